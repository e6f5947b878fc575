// Package wallets is the command wallets: register, list, show, address, export and remove.
package wallets

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// NewCommand returns the command wallets.
func NewCommand() *cobra.Command {
	var at deployment.KeystoreFlags
	group := console.Group("wallets", "Register Bitcoin wallets of several keys", `
Register Bitcoin wallets whose outputs are scripts of several keys, some of them of
others (BIP-388), and print what other signers need to know about them.

What such a wallet spends and gets back cannot be told from a PSBT, whose creator could
put keys of their own in the place of the others'. Once a person has compared the keys
and registered the wallet, its inputs and its change are recognized, by deriving every
key: see docs/wallets.md.`,
		newRegisterCommand(&at), newListCommand(&at), newShowCommand(&at), newAddressCommand(&at), newExportCommand(&at),
		newRemoveCommand(&at))
	at.RegisterAll(group)
	return group
}

type keeper interface {
	keystore.Keystore
	keystore.WalletRegistry
	RegisteredWallets(ctx context.Context, organizationID string) ([]file.Registered, error)
	Register(ctx context.Context, add file.Registered) error
	Unregister(ctx context.Context, organizationID, name string) error
	OwnKeys(ctx context.Context, organizationID string, policy *walletpolicy.Policy) ([]file.OwnKey, error)
}

type walletLine struct {
	Name     string    `json:"name"`
	Template string    `json:"descriptorTemplate"`
	Terms    string    `json:"terms"`  // who must sign, in words
	Digest   string    `json:"digest"` // SHA-256 of the policy
	Keys     []keyLine `json:"keys"`
	Leaf     string    `json:"leaf,omitempty"` // of the registration, in the log
	At       string    `json:"registeredAt,omitempty"`
}

type keyLine struct {
	Placeholder string `json:"placeholder"`
	Key         string `json:"key"`              // with its origin
	Yours       bool   `json:"yours"`            // derived from a wallet of the keystore
	Wallet      string `json:"wallet,omitempty"` // id of that wallet
	Alone       bool   `json:"spendsAlone,omitempty"`
}

// lineOf describes a policy with the keys that are the organization's.
func lineOf(policy *walletpolicy.Policy, own []file.OwnKey) walletLine {
	digest := policy.Digest()
	line := walletLine{Name: policy.Name(), Template: policy.Template(), Terms: policy.Terms(), Digest: hex.EncodeToString(digest[:])}
	for i, key := range policy.Keys() {
		shown := keyLine{Placeholder: key.Placeholder, Key: key.Text, Alone: key.SpendsAlone}
		for _, ours := range own {
			if ours.Key == i {
				shown.Yours, shown.Wallet = true, ours.Wallet.ID
			}
		}
		line.Keys = append(line.Keys, shown)
	}
	return line
}

func (l walletLine) details() []console.Detail {
	all := []console.Detail{{"wallet", l.Name}, {"who must sign", l.Terms}, {"template", l.Template}}
	for _, key := range l.Keys {
		whose := "another's: compare it with its holder"
		if key.Yours {
			whose = "yours, of wallet " + key.Wallet
		}
		if key.Alone {
			whose += "; " + key.Placeholder + " can spend alone"
		}
		all = append(all, console.Detail{key.Placeholder, key.Key}, console.Detail{"", whose})
	}
	all = append(all, console.Detail{"digest", l.Digest})
	if l.At != "" {
		all = append(all, console.Detail{"registered at", l.At}, console.Detail{"leaf in the log", l.Leaf})
	}
	return all
}

// opened opens the keystore, and passes the wallet with a name to use.
func opened(cmd *cobra.Command, flags *deployment.KeystoreFlags, name string, use func(keys keeper, w file.Registered) error) (err error) {
	_, keys, err := deployment.OpenFor[keeper](flags, cmd, noRegistry)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	all, err := keys.RegisteredWallets(cmd.Context(), flags.Organization)
	if err != nil {
		return err
	}
	var names []string
	for _, w := range all {
		if w.Policy.Name() == name {
			return use(keys, w)
		}
		names = append(names, w.Policy.Name())
	}
	if len(names) == 0 {
		return fmt.Errorf("organization %q has no registered wallets: 'countersign wallets register' adds one", flags.Organization)
	}
	return fmt.Errorf("organization %q has no registered wallet with the name %q: it has %s",
		flags.Organization, name, strings.Join(names, ", "))
}

const noRegistry = "this keystore cannot authenticate registered wallets: pin the wallet in the configuration, as " +
	"'countersign wallets register --keystore pkcs11:…' prints it"

func newListCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var output console.OutputFlag
	command := &cobra.Command{
		Use:   "list",
		Short: "List the registered wallets",
		Long: console.Paragraphs(`
List the registered wallets of an organization, by name: as a table on a terminal,
otherwise as one line of JSON each.`),
		Example: "  countersign wallets list --keystore file:keys",
		RunE:    func(cmd *cobra.Command, _ []string) error { return list(cmd, at, output.IsText()) },
	}
	output.RegisterListing(command)
	return command
}

func list(cmd *cobra.Command, flags *deployment.KeystoreFlags, asTable bool) (err error) {
	_, keys, err := deployment.OpenFor[keeper](flags, cmd, noRegistry)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	all, err := keys.RegisteredWallets(cmd.Context(), flags.Organization)
	if err != nil {
		return err
	}
	out := console.NewListing(cmd.OutOrStdout(), asTable, []string{"NAME", "WHO MUST SIGN", "TEMPLATE", "DIGEST"},
		func(l walletLine) []string {
			return []string{l.Name, l.Terms, l.Template, l.Digest}
		})
	for _, w := range all {
		line, err := known(cmd.Context(), keys, flags.Organization, w)
		if err != nil {
			return err
		}
		if err := out.Print(line); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "Organization %q has no registered wallets.\n", flags.Organization)
	}
	return out.Flush()
}

func known(ctx context.Context, keys keeper, organizationID string, w file.Registered) (walletLine, error) {
	own, err := keys.OwnKeys(ctx, organizationID, w.Policy)
	line := lineOf(w.Policy, own)
	line.Leaf, line.At = w.Leaf, w.At.UTC().Format(time.RFC3339)
	return line, err
}

func newShowCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var output console.OutputFlag
	command := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a registered wallet",
		Long: console.Paragraphs(`
Print a registered wallet: who must sign, and all its keys, with yours marked. One
property per line on a terminal, otherwise one line of JSON.`),
		Example: "  countersign wallets show --keystore file:keys treasury",
		RunE: func(cmd *cobra.Command, args []string) error {
			return opened(cmd, at, args[0], func(keys keeper, w file.Registered) error {
				line, err := known(cmd.Context(), keys, at.Organization, w)
				if err != nil {
					return err
				}
				if output.IsText() {
					return console.PrintDetails(cmd.OutOrStdout(), line.details())
				}
				return console.PrintJSON(cmd.OutOrStdout(), line)
			})
		},
	}
	output.RegisterListing(command)
	return command
}
