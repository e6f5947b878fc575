package sign

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// coreKeyPool is how many addresses Core hands out at most without using one.
const coreKeyPool = 1000

// signTx answers signtx. Keys of the wallet that the PSBT names are derived first.
func (c *hwiCommand) signTx(cmd *cobra.Command, args []string) (any, error) {
	if len(args) != 1 {
		return nil, errors.New("signtx: expected one argument, a PSBT in base64")
	}
	raw, named, err := show.NamedKeys(args[0])
	if err != nil {
		return nil, fmt.Errorf("signtx: %w", err)
	}
	if _, _, err := c.keys.Discover(cmd.Context(), c.at.Organization, c.wallet.ID, named, coreKeyPool); err != nil {
		return nil, err
	}
	signed, err := c.signConsented(cmd, activity.SignTransactionIntent{
		Type: activity.TransactionTypeBitcoin, SignWith: c.wallet.ID, UnsignedTransaction: hex.EncodeToString(raw),
	})
	if err != nil {
		return nil, err
	}
	packet, err := hex.DecodeString(signed)
	return map[string]string{"psbt": base64.StdEncoding.EncodeToString(packet)}, err
}

// signConsented signs what the person at the terminal, or without a terminal the policy,
// consents to.
func (c *hwiCommand) signConsented(cmd *cobra.Command, intent activity.SignTransactionIntent) (signed string, err error) {
	keys := c.keys
	c.keys = nil // the engine closes them
	if c.known, err = deployment.ReadKnowledge(c.at.Configured); err != nil {
		return "", errors.Join(err, keys.Close())
	}
	engine, err := c.engineOver(cmd.Context(), keys)
	if err != nil {
		return "", errors.Join(err, keys.Close())
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if c.yes, err = c.policyConsents(); err != nil {
		return "", err
	}
	return c.signShown(cmd, engine, intent)
}

// policyConsents reports whether there is no terminal to ask on, and a policy that judges
// instead: the engine refuses what it does not allow. Without either, it returns an error.
func (c *hwiCommand) policyConsents() (bool, error) {
	tty, err := terminal.Open()
	if err == nil {
		return false, tty.Close()
	}
	if !errors.Is(err, terminal.ErrNone) {
		return false, err
	}
	if c.at.Configured != nil {
		organization, err := c.at.Configured.Organization(c.at.Organization)
		if err != nil {
			return false, err
		}
		if organization.Policy != "" {
			return true, nil
		}
	}
	return false, errors.New("no one can consent: there is no terminal to ask on, and no policy (--config) that could allow it")
}

// onTerminal writes a text to the terminal if there is one, and otherwise to standard error.
func onTerminal(cmd *cobra.Command, text string) error {
	tty, err := terminal.Open()
	switch {
	case err == nil:
		defer func() { _ = tty.Close() }()
		_, err = io.WriteString(tty, text)
	case errors.Is(err, terminal.ErrNone):
		_, err = io.WriteString(cmd.ErrOrStderr(), text)
	}
	return err
}

// keyDescriptor is an output descriptor of one key with its origin (BIP-380), such as
// wpkh([73c5da0a/84h/0h/0h/0/5]02…).
type keyDescriptor struct {
	kind        string // as in the format of an address: P2WPKH
	fingerprint [4]byte
	origin      wallet.Path // of the key as it is written
	path        wallet.Path // of the address
	key         string      // compressed or x-only in hex, or xpub
}

// keyDescriptors are the forms of descriptors of one key.
var keyDescriptors = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"P2PKH", regexp.MustCompile(`^pkh\(\[([0-9a-fA-F]{8}[^\]]*)\]([0-9A-Za-z]+)((?:/[0-9]+)*)\)$`)},
	{"P2SH", regexp.MustCompile(`^sh\(wpkh\(\[([0-9a-fA-F]{8}[^\]]*)\]([0-9A-Za-z]+)((?:/[0-9]+)*)\)\)$`)},
	{"P2WPKH", regexp.MustCompile(`^wpkh\(\[([0-9a-fA-F]{8}[^\]]*)\]([0-9A-Za-z]+)((?:/[0-9]+)*)\)$`)},
	{"P2TR", regexp.MustCompile(`^tr\(\[([0-9a-fA-F]{8}[^\]]*)\]([0-9A-Za-z]+)((?:/[0-9]+)*)\)$`)},
}

func parseKeyDescriptor(text string) (*keyDescriptor, error) {
	body, err := wallet.CutChecksum(text)
	if err != nil {
		return nil, err
	}
	for _, form := range keyDescriptors {
		matched := form.pattern.FindStringSubmatch(body)
		if matched == nil {
			continue
		}
		d := &keyDescriptor{kind: form.kind, key: matched[2]}
		if d.fingerprint, d.origin, err = wallet.ParseOrigin(strings.ToLower(matched[1])); err != nil {
			return nil, fmt.Errorf("--desc: origin: %w", err)
		}
		d.path, err = wallet.ParsePath(d.origin.String() + matched[3])
		return d, err
	}
	return nil,
		errors.New("--desc: expected pkh, wpkh, sh(wpkh) or tr of one key with its origin, such as " +
			"wpkh([73c5da0a/84h/0h/0h/0/5]02…); addresses of registered wallets are printed by 'countersign wallets address'")
}

// address derives the address, and refuses a key that is not the wallet's.
func (d *keyDescriptor) address(root *wallet.Root, network bitcoin.Network) (string, error) {
	if d.fingerprint != root.Fingerprint() {
		return "", fmt.Errorf("the descriptor is of master key %x, the wallet's is %x", d.fingerprint, root.Fingerprint())
	}
	pub, err := root.PublicKey(d.path)
	if err != nil {
		return "", err
	}
	if ours, err := d.isOf(root, pub); err != nil || !ours {
		return "", errors.Join(err, fmt.Errorf("the key in the descriptor is not the wallet's at %v", d.path))
	}
	format := show.BitcoinFormat + strings.ToUpper(network.String()) + "_" + d.kind
	for _, address := range (bitcoin.Chain{}).Addresses(pub) {
		if address.Format == format {
			return address.Address, nil
		}
	}
	return "", fmt.Errorf("the key has no address of format %s", format)
}

// isOf reports whether the key as it is written is the wallet's.
func (d *keyDescriptor) isOf(root *wallet.Root, pub keystore.PublicKey) (bool, error) {
	x := pub.XOnly()
	if raw, err := hex.DecodeString(d.key); err == nil {
		return len(d.path) == len(d.origin) && (string(raw) == string(pub.Bytes()) || d.kind == "P2TR" && string(raw) == string(x[:])), nil
	}
	node, err := hdkeychain.NewKeyFromString(d.key)
	if err != nil || node.IsPrivate() {
		return false, fmt.Errorf("--desc: neither a public key nor an extended one: %w", err)
	}
	public, err := node.ECPubKey()
	if err != nil {
		return false, err
	}
	return root.Has(d.origin, [33]byte(public.SerializeCompressed()), [32]byte(node.ChainCode()))
}
