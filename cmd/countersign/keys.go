package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

func newKeysCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "keys",
		Short: "Create, import, export, change and list keys",
		Long: paragraphs(`
Create, import, export, change and list the keys of a keystore.

Each key is printed as one line of JSON, with all its addresses:

  {"privateKeyId":"…","name":"…","curve":"CURVE_SECP256K1","publicKey":"…",
   "addresses":[{"format":"ADDRESS_FORMAT_ETHEREUM","address":"0x…"}]}

The keys of a wallet also have "walletId" and "path", a disabled key has "disabled",
and a Tempo access key has "actsFor". Keys in an HSM have no taproot address:
PKCS#11 defines no BIP-340 signature.`),
		Args: commandOnly,
		RunE: chooseCommand,
	}
	command.AddCommand(newGenerateCommand(), newImportCommand(), newDeriveCommand(), newExportCommand(), newListCommand(), newShowCommand(),
		newRenameCommand(), newDisableCommand(), newEnableCommand(), newActForCommand(), newDeleteCommand(), newRestoreCommand(), newBackupCommand(), newPassphraseCommand())
	return command
}

// keyLine is a key as it is printed.
type keyLine struct {
	PrivateKeyID string           `json:"privateKeyId"`
	Name         string           `json:"name"`
	Curve        keystore.Curve   `json:"curve"`
	PublicKey    string           `json:"publicKey"` // hex; secp256k1 compressed
	Addresses    []chains.Address `json:"addresses"`
	WalletID     string           `json:"walletId,omitempty"` // of an account of a wallet
	Path         string           `json:"path,omitempty"`
	ActsFor      string           `json:"actsFor,omitempty"` // the account that a Tempo access key signs for
	Disabled     bool             `json:"disabled,omitempty"`

	// HighR: half of the key's Bitcoin signatures have a high r (keystore.LowRSigner).
	HighR bool `json:"highR,omitempty"`
}

// networkFlag selects the Bitcoin network whose addresses are printed.
type networkFlag struct{ name string }

const (
	addressFormat = "ADDRESS_FORMAT_"          // begins the name of each address format
	bitcoinFormat = addressFormat + "BITCOIN_" // begins those of Bitcoin
	taprootFormat = "_P2TR"                    // ends those of taproot
)

func (n *networkFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.name, "network", bitcoin.Mainnet.String(), "Bitcoin `NETWORK` of the addresses: mainnet, testnet, signet, regtest")
}

func (n *networkFlag) check() error {
	_, err := n.limits()
	return err
}

// refuseOther refuses a key that is written for Bitcoin's mainnet, or for its test networks,
// if another network is named.
func (n *networkFlag) refuseOther(key string, forTests bool) error {
	switch isMainnet := n.name == bitcoin.Mainnet.String(); {
	case forTests && isMainnet:
		return usagef("%s is for Bitcoin's test networks: pass --network testnet, signet or regtest", key)
	case !forTests && !isMainnet:
		return usagef("%s is for Bitcoin's mainnet, and --network is %s", key, n.name)
	}
	return nil
}

// limits returns the engine's limits for the network.
func (n *networkFlag) limits() (all.Limits, error) {
	network, err := bitcoin.ParseNetwork(n.name)
	if err != nil {
		return all.Limits{}, usagef("--network: %v", err)
	}
	return all.Limits{Bitcoin: bitcoin.Limits{Network: network}}, nil
}

// line returns a key as it is printed, with the Bitcoin addresses of the network.
func (n *networkFlag) line(info keystore.KeyInfo) keyLine {
	line := keyLine{
		PrivateKeyID: info.ID,
		Name:         info.Name,
		Curve:        info.PublicKey.Curve(),
		PublicKey:    info.PublicKey.String(),
		Addresses:    []chains.Address{},
	}
	if info.ActsFor != "" {
		line.ActsFor = evmAddress(info.ActsFor)
	}
	ofNetwork := bitcoinFormat + strings.ToUpper(n.name) + "_"
	for _, address := range all.Addresses(info.PublicKey) {
		if !strings.HasPrefix(address.Format, bitcoinFormat) || strings.HasPrefix(address.Format, ofNetwork) {
			line.Addresses = append(line.Addresses, address)
		}
	}
	return line
}

// fieldFlag selects one member of a key, or one of its addresses, to be printed as plain
// text instead of the whole line.
type fieldFlag struct{ name string }

// keyFields are the members that --field takes, in addition to address formats.
var keyFields = []string{"privateKeyId", "name", "curve", "publicKey"}

func (f *fieldFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "field", "", "print one `FIELD` of the key as plain text: "+strings.Join(keyFields, ", ")+", or an address by its format, such as ADDRESS_FORMAT_ETHEREUM")
}

func (f *fieldFlag) check() error {
	if f.name == "" || slices.Contains(keyFields, f.name) || strings.HasPrefix(f.name, addressFormat) {
		return nil
	}
	return usagef("--field: unknown field %q: use %s, or an address format, such as ADDRESS_FORMAT_ETHEREUM", f.name, strings.Join(keyFields, ", "))
}

// print prints the field, or the line as JSON if no field is selected.
func (f *fieldFlag) print(out io.Writer, line keyLine) error {
	if f.name == "" {
		return printJSON(out, line)
	}
	value, err := line.field(f.name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, value)
	return err
}

func (l keyLine) field(name string) (string, error) {
	switch name {
	case "privateKeyId":
		return l.PrivateKeyID, nil
	case "name":
		return l.Name, nil
	case "curve":
		return l.Curve.String(), nil
	case "publicKey":
		return l.PublicKey, nil
	}
	var formats []string
	for _, address := range l.Addresses {
		if address.Format == name {
			return address.Address, nil
		}
		formats = append(formats, address.Format)
	}
	return "", fmt.Errorf("--field: a key on %s has no address of format %s: it has %s", l.Curve, name, strings.Join(formats, ", "))
}

// confirmKeys asks a question about keys on the terminal, unless --yes has answered it.
// If the answer is no, the error says what was not done.
func confirmKeys(ctx context.Context, yes bool, question, notDone string) error {
	return confirmed(yes, func(tty *terminal.Terminal) error {
		agreed, err := tty.Confirm(ctx, question)
		if err == nil && !agreed {
			err = errors.New(notDone + ": the answer was not yes")
		}
		return err
	})
}
