package main

import (
	"errors"
	"fmt"
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
		Short: "Make, import, export and list keys",
		Long: paragraphs(`
Make, import, export and list the keys of a keystore.

Each key is printed as one line of JSON, with all the addresses it has:

  {"privateKeyId":"…","name":"…","curve":"CURVE_SECP256K1","publicKey":"…",
   "addresses":[{"format":"ADDRESS_FORMAT_ETHEREUM","address":"0x…"}]}

The keys of a wallet have "walletId" and "path", too. A key in an HSM has no
taproot address: there are no signatures for it in PKCS#11.`),
		Args: cobra.NoArgs,
		RunE: chooseCommand,
	}
	command.AddCommand(newGenerateCommand(), newImportCommand(), newDeriveCommand(), newExportCommand(), newListCommand(), newShowCommand(), newPassphraseCommand())
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
	ours := bitcoinFormat + strings.ToUpper(n.name) + "_"
	for _, address := range countersign.Addresses(info.PublicKey) {
		if !strings.HasPrefix(address.Format, bitcoinFormat) || strings.HasPrefix(address.Format, ours) {
			line.Addresses = append(line.Addresses, address)
		}
	}
	return line
}

func newListCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	command := &cobra.Command{
		Use:   "list",
		Short: "Print all keys, oldest first",
		Long: paragraphs(`
Print the keys of an organization, oldest first: one line of JSON each.`),
		Example: "  countersign keys list --keystore file:keys",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listKeys(cmd, &at, network) },
	}
	at.register(command)
	network.register(command)
	return command
}

// listKeys prints all keys. That there are none is said: it may be the wrong
// organization.
func listKeys(cmd *cobra.Command, at *keystoreFlags, network networkFlag) error {
	empty := true
	err := eachKey(cmd, at, network, func(keystore.KeyInfo) bool {
		empty = false
		return true
	})
	if err == nil && empty {
		fmt.Fprintf(cmd.ErrOrStderr(), "Organization %q has no keys here: --org names another.\n", at.organization)
	}
	return err
}

func newShowCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	command := &cobra.Command{
		Use:     "show ID",
		Short:   "Print one key",
		Long:    "Print the key with an id, as one line of JSON.\n",
		Example: "  countersign keys show --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showKey(cmd, &at, network, args[0])
		},
	}
	at.register(command)
	network.register(command)
	return command
}

// showKey prints one key, without reading the others where the keystore can do so.
func showKey(cmd *cobra.Command, at *keystoreFlags, network networkFlag, id string) (err error) {
	if err := network.check(); err != nil {
		return err
	}
	keys, err := at.open(cmd)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	key, err := keys.Find(cmd.Context(), at.organization, keystore.ByID(id))
	if errors.Is(err, keystore.ErrKeyNotFound) {
		tellSkipped(cmd, keys)
		return fmt.Errorf("organization %q has no key with the id %q: 'countersign keys list' prints them", at.organization, id)
	}
	if err != nil {
		return err
	}
	places, err := placesOf(cmd.Context(), keys, at.organization)
	if err != nil {
		return err
	}
	if err := printJSON(cmd.OutOrStdout(), spendable(keys, places.mark(network.line(keystore.InfoOf(key))))); err != nil {
		return err
	}
	tellSkipped(cmd, keys)
	return nil
}

// eachKey prints the keys that are wanted.
func eachKey(cmd *cobra.Command, at *keystoreFlags, network networkFlag, wanted func(keystore.KeyInfo) bool) (err error) {
	if err := network.check(); err != nil {
		return err
	}
	keys, err := at.open(cmd)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	places, err := placesOf(cmd.Context(), keys, at.organization)
	if err != nil {
		return err
	}
	for info, err := range keys.Keys(cmd.Context(), at.organization) {
		if err != nil {
			return err
		}
		if !wanted(info) {
			continue
		}
		if err := printJSON(cmd.OutOrStdout(), spendable(keys, places.mark(network.line(info)))); err != nil {
			return err
		}
	}
	tellSkipped(cmd, keys)
	return nil
}

// closeKeystore closes a keystore; an error of that counts if there is no other.
func closeKeystore(keys keystore.Keystore, err *error) {
	if closeErr := keys.Close(); *err == nil {
		*err = closeErr
	}
}
