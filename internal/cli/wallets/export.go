package wallets

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

type addressCommand struct {
	at      *deployment.KeystoreFlags
	network show.NetworkFlag
	index   uint32
	count   uint32
	change  bool
}

type addressLine struct {
	Address string `json:"address"`
	Change  bool   `json:"change"`
	Index   uint32 `json:"index"`
}

func newAddressCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := addressCommand{at: at}
	command := &cobra.Command{
		Use:   "address NAME",
		Short: "Print addresses of a registered wallet",
		Long: console.Paragraphs(`
Print addresses of a registered wallet, each derived from all its keys, as one line of
JSON: {"address","change","index"}.`),
		Example: "  countersign wallets address --keystore file:keys treasury --index 7",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	c.network.Register(command)
	flags := command.Flags()
	flags.Uint32Var(&c.index, "index", 0, "`INDEX` of the first address")
	flags.Uint32Var(&c.count, "count", 1, "`NUMBER` of addresses")
	flags.BoolVar(&c.change, "change", false, "change addresses instead of receiving ones")
	return command
}

func (c *addressCommand) run(cmd *cobra.Command, name string) error {
	if c.count == 0 || uint64(c.index)+uint64(c.count) > walletpolicy.MaxIndex+1 {
		return console.Usagef("--index and --count: addresses have indexes from 0 to %d", walletpolicy.MaxIndex)
	}
	return opened(cmd, c.at, name, func(_ keeper, w file.Registered) error {
		if err := c.network.RefuseOther("this wallet", w.Policy.TestNetwork()); err != nil {
			return err
		}
		for index := c.index; index < c.index+c.count; index++ {
			address, err := addressOf(w.Policy, c.network.Limits().Bitcoin.Network, c.change, index)
			if err != nil {
				return err
			}
			if err := console.PrintJSON(cmd.OutOrStdout(), addressLine{address, c.change, index}); err != nil {
				return err
			}
		}
		return nil
	})
}

func addressOf(policy *walletpolicy.Policy, network bitcoin.Network, change bool, index uint32) (string, error) {
	script, err := policy.Script(change, index)
	if err != nil {
		return "", err
	}
	if text, ok := bitcoin.AddressOf(script, network); ok {
		return text, nil
	}
	return "script " + hex.EncodeToString(script), nil
}

// exportFormats are the values of --format, the default first.
var exportFormats = []string{"descriptor", "bip388", "core"}

type exportCommand struct {
	at     *deployment.KeystoreFlags
	format string
	qr     console.QRFlags
}

func newExportCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := exportCommand{at: at}
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Print a registered wallet for other signers",
		Long: console.Paragraphs(`
Print a registered wallet for other signers and for watch-only wallets:

  descriptor  the output descriptor with <0;1>/* and its checksum (BIP-380, BIP-389)
  bip388      the wallet policy, JSON {"name","descriptor_template","keys_info"}
  core        the line for Bitcoin Core's importdescriptors

--qr draws the descriptor as a QR code (ur:output-descriptor, BCR-2023-010).`),
		Example: console.Paragraphs(`
  countersign wallets export --keystore file:keys treasury
  countersign wallets export --keystore file:keys --format core treasury`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	command.Flags().StringVar(&c.format, "format", exportFormats[0], "`FORMAT`: "+strings.Join(exportFormats, ", "))
	c.qr.Register(command)
	return command
}

func (c *exportCommand) run(cmd *cobra.Command, name string) error {
	if !slices.Contains(exportFormats, c.format) {
		return console.Usagef("--format: unknown format %q: use %s", c.format, strings.Join(exportFormats, ", "))
	}
	return opened(cmd, c.at, name, func(_ keeper, w file.Registered) error {
		switch {
		case c.qr.Wanted():
			message, err := code(w.Policy)
			if err != nil {
				return err
			}
			return c.qr.Show(cmd, message)
		case c.format == "bip388":
			return console.PrintLine(cmd, []byte(w.Policy.Canonical()))
		case c.format == "core":
			var both []coreImport // receiving and change
			for _, change := range []bool{false, true} {
				both = append(both, coreImport{w.Policy.BranchDescriptor(change), true, change, "now", [2]int{0, 999}})
			}
			return console.PrintJSON(cmd.OutOrStdout(), both)
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), w.Policy.Descriptor())
		return err
	})
}

// coreImport is one request of Bitcoin Core's importdescriptors.
type coreImport struct {
	Descriptor string `json:"desc"`
	Active     bool   `json:"active"`
	Internal   bool   `json:"internal"`
	Timestamp  string `json:"timestamp"`
	Range      [2]int `json:"range"`
}

// code encodes the wallet as a QR code for other signers: the descriptor with placeholders,
// and the keys.
func code(policy *walletpolicy.Policy) (ur.Message, error) {
	var keys []ur.HDKey
	for _, key := range policy.Keys() {
		node, err := hdkeychain.NewKeyFromString(key.XPub)
		if err != nil {
			return ur.Message{}, err
		}
		origin := ur.Keypath{Fingerprint: binary.BigEndian.Uint32(key.Fingerprint[:]), Depth: uint64(len(key.Path))}
		for _, step := range key.Path {
			origin.Path = append(origin.Path, ur.PathIndex{Index: step &^ wallet.Hardened, Hardened: step >= wallet.Hardened})
		}
		keys = append(keys, ur.HDKey{
			Key: key.Public[:], ChainCode: key.Chain[:], Origin: origin, Parent: node.ParentFingerprint(), Testnet: policy.TestNetwork(),
		})
	}
	keys[0].Name = policy.Name()
	source := strings.ReplaceAll(policy.Template(), "/**", "/<0;1>/*")
	return ur.OutputDescriptor{Source: source, Key: keys[0], More: keys[1:]}.Message(), nil
}
