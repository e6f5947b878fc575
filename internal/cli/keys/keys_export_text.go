package keys

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// secretText returns the secret of one key or wallet in the format, with a line ending.
// The caller wipes it.
func (c *exportCommand) secretText(ctx context.Context, keys exporter, id string, password []byte) (text []byte, err error) {
	if c.format == formatMnemonic || c.format == formatXPrv {
		return c.walletText(ctx, keys, id)
	}
	handle, err := keys.Find(ctx, c.at.Organization, keystore.ByID(id))
	if errors.Is(err, keystore.ErrKeyNotFound) {
		return nil,
			fmt.Errorf("organization %q has no key with the id %q: 'countersign keys list' prints them (for a "+
				"wallet, --format is mnemonic or xprv)", c.at.Organization, id)
	}
	if err != nil {
		return nil, err
	}
	err = keys.RevealSecret(ctx, c.at.Organization, handle.ID(), func(secret []byte) error {
		key, err := keyformat.NewKey(handle.PublicKey().Curve(), secret)
		if err != nil {
			return err
		}
		defer key.Wipe()
		text, err = c.encode(key, password)
		return err
	})
	if err != nil || bytes.HasSuffix(text, []byte("\n")) {
		return text, err
	}
	defer keystore.Wipe(text)
	return secretLine(text), nil
}

// secretLine returns a copy of a secret with a line ending, in one allocation: growing
// would leave another copy behind.
func secretLine(secret []byte) []byte {
	return append(append(make([]byte, 0, len(secret)+1), secret...), '\n')
}

func (c *exportCommand) encode(key keyformat.Key, password []byte) ([]byte, error) {
	switch c.format {
	case formatWIF:
		return keyformat.WIF{Key: key, TestNetwork: c.network.Name != bitcoin.Mainnet.String()}.Format()
	case formatSolana:
		return key.Solana()
	case formatSolanaBase58:
		return key.SolanaBase58()
	case formatWeb3:
		return key.Web3(password, keyformat.Cost{})
	case formatPKCS8:
		return key.PKCS8(password)
	}
	return key.Hex(), nil
}

func (c *exportCommand) walletText(ctx context.Context, keys exporter, id string) (text []byte, err error) {
	keeper, ok := keys.(walletKeeper)
	if !ok {
		return nil, errors.New("this keystore has no wallets")
	}
	if id, err = resolveWallet(ctx, keeper, c.at.Organization, id); err != nil {
		return nil, err
	}
	if c.format == formatXPrv {
		return c.extendedKeyText(ctx, keeper, id)
	}
	err = keeper.RevealMnemonic(ctx, c.at.Organization, id, func(mnemonic, passphrase []byte) error {
		text = make([]byte, 0, len(mnemonic)+len(passphrase)+2)
		text = append(append(text, mnemonic...), '\n')
		if len(passphrase) > 0 {
			text = append(append(text, passphrase...), '\n')
		}
		return nil
	})
	if errors.Is(err, file.ErrNoMnemonic) {
		err = fmt.Errorf("%w: use --format xprv", err)
	}
	return text, err
}

func (c *exportCommand) extendedKeyText(ctx context.Context, keys walletKeeper, id string) (text []byte, err error) {
	err = keys.RevealRoot(ctx, c.at.Organization, id, func(root *wallet.Root) error {
		path := c.path
		if path == nil {
			path = root.Path()
		}
		key, err := root.ExtendedKey(path)
		defer keystore.Wipe(key)
		text = secretLine(key)
		return err
	})
	return text, err
}

// allKeys returns a line for each enabled key, oldest first, and their number. The caller
// wipes the text, also after an error.
func (c *exportCommand) allKeys(cmd *cobra.Command, keys exporter) (text []byte, count int, err error) {
	ctx, organization := cmd.Context(), c.at.Organization
	accounts, err := pathsOf(ctx, keys, organization)
	if err != nil {
		return nil, 0, err
	}
	derived := 0
	for info, err := range keys.Keys(ctx, organization) {
		if err != nil {
			return text, count, err
		}
		if _, ok := accounts[info.ID]; ok {
			derived++
		}
		if err := keys.RevealSecret(ctx, organization, info.ID, func(secret []byte) error {
			text = appendExported(text, info, secret)
			return nil
		}); err != nil {
			return text, count, err
		}
		count++
	}
	if count == 0 {
		return text, 0, fmt.Errorf("organization %q owns no keys here: --org names another", organization)
	}
	if derived > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"%d of the keys are accounts of wallets: they are exported as single keys, without the mnemonic "+
				"(--format mnemonic prints it).\n", derived)
	}
	disabled, err := disabledKeys(ctx, keys, organization)
	if len(disabled) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d disabled keys are not exported: 'countersign keys backup' copies them too.\n", len(disabled))
	}
	return text, count, err
}

// exportedLine is a line of keys export --all, which keys import --jsonl reads, without
// its secret: appendExported adds that by hand, so that encoding/json makes no copy.
type exportedLine struct {
	PrivateKeyID string `json:"privateKeyId"`
	Name         string `json:"name,omitempty"`
	Curve        string `json:"curve"`
	ActsFor      string `json:"actsFor,omitempty"`
}

// appendExported appends the line of a key. If the text has to grow, the old memory is wiped.
func appendExported(text []byte, info keystore.KeyInfo, secret []byte) []byte {
	head := console.JSONLine(exportedLine{
		PrivateKeyID: info.ID, Name: info.Name, Curve: info.PublicKey.Curve().String(), ActsFor: info.ActsFor,
	})
	head = bytes.TrimSuffix(head, []byte("}"))
	need := len(text) + len(head) + len(`,"privateKey":""}`+"\n") + hex.EncodedLen(len(secret))
	if need > cap(text) {
		larger := append(make([]byte, 0, 2*need), text...)
		keystore.Wipe(text)
		text = larger
	}
	text = append(append(text, head...), `,"privateKey":"`...)
	text = hex.AppendEncode(text, secret)
	return append(text, "\"}\n"...)
}

func ageEncrypt(text, password []byte) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(string(password))
	if err != nil {
		return nil, err
	}
	var sealed bytes.Buffer
	payload, err := age.Encrypt(&sealed, recipient)
	if err != nil {
		return nil, err
	}
	_, err = payload.Write(text)
	err = errors.Join(err, payload.Close()) // writes the last chunk
	return sealed.Bytes(), err
}
