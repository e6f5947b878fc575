package keys

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// fieldFlag selects one member of a key, or one of its addresses, to be printed as plain
// text instead of the whole line.
type fieldFlag struct{ name string }

// keyFields are the members that --field takes, in addition to address formats.
var keyFields = []string{"privateKeyId", "name", "curve", "publicKey", "walletId", "path"}

func (f *fieldFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "field", "", "print one `FIELD` of the key as plain text: "+strings.Join(keyFields,
		", ")+", or an address by its format, such as ADDRESS_FORMAT_ETHEREUM")
	console.Check(cmd, f.check)
}

func (f *fieldFlag) check() error {
	if f.name == "" || slices.Contains(keyFields, f.name) || strings.HasPrefix(f.name, show.AddressFormat) {
		return nil
	}
	return console.Usagef("--field: unknown field %q: use %s, or an address format, such as ADDRESS_FORMAT_ETHEREUM",
		f.name, strings.Join(keyFields, ", "))
}

// print prints the field, or the line as JSON if no field is selected.
func (f *fieldFlag) print(out io.Writer, line show.KeyLine) error {
	switch {
	case f.name == "" && terminal.Is(out):
		return console.PrintDetails(out, detailsOf(line))
	case f.name == "":
		return console.PrintJSON(out, line)
	}
	value, err := line.Field(f.name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, value)
	return err
}

// fits refuses a field that a new key on a curve would not have, before there is one.
func (f *fieldFlag) fits(ctx context.Context, keys keystore.Keystore, network *show.NetworkFlag, curve keystore.Curve) error {
	another, err := memory.New().Generate(ctx, "any", "", curve)
	if err != nil {
		return err
	}
	return f.print(io.Discard, deployment.Spendable(keys, network.Line(another)))
}

// printWallet prints the field of each account of a wallet that has it, one per line, or the
// wallet as JSON if no field is selected.
func (f *fieldFlag) printWallet(out io.Writer, w WalletLine) error {
	switch f.name {
	case "":
		if !terminal.Is(out) {
			return console.PrintJSON(out, w)
		}
		table := console.NewListing(out, true, listHeader, cellsOf)
		for _, account := range w.Accounts {
			if err := table.Print(account); err != nil {
				return err
			}
		}
		return table.Flush()
	case "walletId":
		_, err := fmt.Fprintln(out, w.WalletID)
		return err
	}
	var problem error
	printed := false
	for _, account := range w.Accounts {
		if _, err := account.Field(f.name); err != nil {
			problem = err
			continue
		}
		if err := f.print(out, account); err != nil {
			return err
		}
		printed = true
	}
	if printed {
		return nil
	}
	return problem
}

// confirmKeys asks a question about keys on the terminal, unless --yes has answered it.
func confirmKeys(ctx context.Context, yes bool, question, notDone string) error {
	return console.Confirmed(yes, func(tty *terminal.Terminal) error {
		return console.Ask(ctx, tty, question, notDone)
	})
}

func registerKeyFlags(cmd *cobra.Command, curve, name *string) {
	cmd.Flags().StringVar(curve, "curve", "", "`CURVE` of the key: secp256k1 or ed25519")
	cmd.Flags().StringVar(name, "name", "", "`NAME` of the key: free text for people")
}

// curvePrefix begins the names of curves in the API. It may be left out on the command line.
const curvePrefix = "CURVE_"

func parseCurve(name string) (keystore.Curve, error) {
	if name == "" {
		return 0, console.Usagef("--curve is missing: use CURVE_SECP256K1 or CURVE_ED25519; a secret in another form " +
			"than hex needs --format, such as mnemonic for the words of a wallet")
	}
	full := name
	if !strings.HasPrefix(name, curvePrefix) {
		full = curvePrefix + strings.ToUpper(name)
	}
	curve, err := keystore.ParseCurve(full)
	if err != nil {
		return 0, console.Usagef("--curve: unknown curve %q: use secp256k1 or ed25519, or CURVE_SECP256K1 or CURVE_ED25519", name)
	}
	return curve, nil
}
