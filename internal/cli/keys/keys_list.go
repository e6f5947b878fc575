package keys

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

func newListCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var network show.NetworkFlag
	var output console.OutputFlag
	command := &cobra.Command{
		Use:   "list",
		Short: "List all keys, oldest first",
		Long: console.Paragraphs(`
List the keys of an organization, oldest first and disabled keys last: as a table on a
terminal, otherwise as one line of JSON each.

In the table, the name of an account of a wallet is the wallet's: the path has a column of
its own. The table shows one address of each key: the usual one for the path of an account,
otherwise Ethereum's or Solana's. 'countersign keys show' prints them all. A table of the
wallets follows.`),
		Example: "  countersign keys list --keystore file:keys",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listKeys(cmd, at, network, output.IsText())
		},
	}
	network.Register(command)
	output.RegisterListing(command)
	return command
}

var listHeader = []string{"NAME", "CURVE", "ADDRESS", "PATH", "ID", "STATE"}

// listKeys prints all keys. If there are none, it says so: the organization may be the wrong one.
func listKeys(cmd *cobra.Command, flags *deployment.KeystoreFlags, network show.NetworkFlag, asTable bool) (err error) {
	keys, err := flags.Open(cmd)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	out := console.NewListing(cmd.OutOrStdout(), asTable, listHeader, cellsOf)
	count := 0
	err = eachKey(cmd.Context(), keys, flags.Organization, network, func(line show.KeyLine) error {
		count++
		return out.Print(line)
	})
	if err == nil && count > 0 {
		err = out.Flush()
	}
	if err == nil && asTable {
		err = listWallets(cmd, keys, flags.Organization)
	}
	if err == nil && count == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "Organization %q owns no keys here: --org names another.\n", flags.Organization)
	}
	deployment.TellSkipped(cmd, keys)
	return err
}

// listWallets prints a table of the wallets, whose ids the table of keys does not have.
func listWallets(cmd *cobra.Command, keys keystore.Keystore, organizationID string) error {
	keeper, ok := keys.(walletKeeper)
	if !ok {
		return nil
	}
	wallets, err := keeper.Wallets(cmd.Context(), organizationID)
	if err != nil || len(wallets) == 0 {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout())
	out := console.NewListing(cmd.OutOrStdout(), true, []string{"WALLET", "ACCOUNTS", "ID"}, func(w file.Wallet) []string {
		return []string{cmp.Or(w.Name, "-"), strconv.Itoa(len(w.Accounts)), w.ID}
	})
	for _, w := range wallets {
		if err := out.Print(w); err != nil {
			return err
		}
	}
	return out.Flush()
}

// eachKey calls use with each key of an organization: first the enabled keys, then the
// disabled ones.
func eachKey(ctx context.Context, keys keystore.Keystore, organizationID string, network show.NetworkFlag,
	use func(show.KeyLine) error) error {
	paths, err := pathsOf(ctx, keys, organizationID)
	if err != nil {
		return err
	}
	for info, err := range keys.Keys(ctx, organizationID) {
		if err == nil {
			err = use(deployment.Spendable(keys, paths.mark(network.Line(info))))
		}
		if err != nil {
			return err
		}
	}
	disabled, err := disabledKeys(ctx, keys, organizationID)
	if err != nil {
		return err
	}
	for _, info := range disabled {
		line := paths.mark(network.Line(info))
		line.Disabled = true
		if err := use(line); err != nil {
			return err
		}
	}
	return nil
}

// disabledKeys lists the disabled keys, nil for a keystore that cannot disable keys.
func disabledKeys(ctx context.Context, keys keystore.Keystore, organizationID string) ([]keystore.KeyInfo, error) {
	if disabler, ok := keys.(keystore.Disabler); ok {
		return disabler.Disabled(ctx, organizationID)
	}
	return nil, nil
}

func cellsOf(l show.KeyLine) []string {
	state := ""
	switch {
	case l.Disabled:
		state = "disabled"
	case l.ActsFor != "":
		state = "acts for " + l.ActsFor
	}
	curve := strings.ToLower(strings.TrimPrefix(l.Curve.String(), curvePrefix))
	name := l.Name
	if l.Path != "" {
		name = strings.TrimSpace(strings.TrimSuffix(name, l.Path))
	}
	return []string{cmp.Or(name, "-"), curve, usualAddress(l), cmp.Or(l.Path, "-"), l.PrivateKeyID, state}
}

// usualFormats are the suffixes of the usual address formats below paths.
var usualFormats = []struct{ path, format string }{
	{"m/44'/195'/", "_TRON"},
	{"m/44'/501'/", "_SOLANA"},
	{"m/44'/0'/", "_P2PKH"}, {"m/44'/1'/", "_P2PKH"},
	{"m/49'/", "_P2SH"},
	{"m/84'/", "_P2WPKH"},
	{"m/86'/", show.TaprootFormat},
}

// usualAddress returns the address that people know the key by.
func usualAddress(l show.KeyLine) string {
	format := "_ETHEREUM"
	if l.Curve == keystore.CurveEd25519 {
		format = "_SOLANA"
	}
	for _, usual := range usualFormats {
		if strings.HasPrefix(l.Path, usual.path) {
			format = usual.format
		}
	}
	for _, address := range l.Addresses {
		if strings.HasSuffix(address.Format, format) {
			return address.Address
		}
	}
	return "-"
}
