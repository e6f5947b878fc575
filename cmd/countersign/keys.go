package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/keystore"
)

func newKeysCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "keys",
		Short: "Make, import, export, change and list keys",
		Long: paragraphs(`
Make, import, export, change and list the keys of a keystore.

Each key is printed as one line of JSON, with all the addresses it has:

  {"privateKeyId":"…","name":"…","curve":"CURVE_SECP256K1","publicKey":"…",
   "addresses":[{"format":"ADDRESS_FORMAT_ETHEREUM","address":"0x…"}]}

The keys of a wallet have "walletId" and "path", too; one that is disabled has
"disabled", and an access key of Tempo "actsFor". A key in an HSM has no taproot
address: there are no signatures for it in PKCS#11.`),
		Args: commandOnly,
		RunE: chooseCommand,
	}
	command.AddCommand(newGenerateCommand(), newImportCommand(), newDeriveCommand(), newExportCommand(), newListCommand(), newShowCommand(),
		newRenameCommand(), newDisableCommand(), newEnableCommand(), newActForCommand(), newDeleteCommand(), newRestoreCommand(), newBackupCommand(), newPassphraseCommand())
	return command
}

// keyLine is how a key is printed.
type keyLine struct {
	PrivateKeyID string           `json:"privateKeyId"`
	Name         string           `json:"name"`
	Curve        keystore.Curve   `json:"curve"`
	PublicKey    string           `json:"publicKey"` // hex; secp256k1 compressed
	Addresses    []chains.Address `json:"addresses"`
	WalletID     string           `json:"walletId,omitempty"` // of an account of a wallet
	Path         string           `json:"path,omitempty"`
	ActsFor      string           `json:"actsFor,omitempty"` // account that an access key of Tempo signs for
	Disabled     bool             `json:"disabled,omitempty"`
}

// networkFlag picks the Bitcoin network whose addresses are printed.
type networkFlag struct{ name string }

// Bitcoin's address formats begin with bitcoinFormat; those of taproot end with
// taprootFormat.
const (
	bitcoinFormat = "ADDRESS_FORMAT_BITCOIN_"
	taprootFormat = "_P2TR"
)

func (n *networkFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.name, "network", bitcoin.Mainnet.String(), "Bitcoin `NETWORK` of the addresses: mainnet, testnet, signet, regtest")
}

func (n *networkFlag) check() error {
	_, err := n.limits()
	return err
}

// limits are the engine's, with addresses shown as on the network.
func (n *networkFlag) limits() (countersign.Limits, error) {
	network, err := bitcoin.ParseNetwork(n.name)
	if err != nil {
		return countersign.Limits{}, usagef("--network: %v", err)
	}
	return countersign.Limits{Bitcoin: bitcoin.Limits{Network: network}}, nil
}

// line returns what is printed of a key.
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
	ours := bitcoinFormat + strings.ToUpper(n.name) + "_"
	for _, address := range countersign.Addresses(info.PublicKey) {
		if !strings.HasPrefix(address.Format, bitcoinFormat) || strings.HasPrefix(address.Format, ours) {
			line.Addresses = append(line.Addresses, address)
		}
	}
	return line
}

// closeKeystore closes a keystore; an error of that counts if there is no other.
func closeKeystore(keys keystore.Keystore, err *error) {
	if closeErr := keys.Close(); *err == nil {
		*err = closeErr
	}
}
