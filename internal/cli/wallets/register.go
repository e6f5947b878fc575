package wallets

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

type registerCommand struct {
	at      *deployment.KeystoreFlags
	network show.NetworkFlag
	name    string
	replace bool
	digest  digestFlag
}

func newRegisterCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := registerCommand{at: at}
	command := &cobra.Command{
		Use:   "register",
		Short: "Register a wallet, after comparing its keys",
		Long: console.Paragraphs(`
Register the wallet policy on standard input: JSON {"name","descriptor_template",
"keys_info"} (BIP-388), an output descriptor with <0;1>/*, two descriptors for
receiving and change, one per line, Bitcoin Core's listdescriptors or
importdescriptors, Specter Desktop's JSON, a BSMS descriptor record (BIP-129), or
Coldcard's multisig file.

The keys, with yours marked, and the first addresses are shown. Compare the keys of the
others with their holders, and the addresses with another signer's screen, over a way
that the sender of the policy does not control: anyone who can put a key in here gets a
say over your change. At least one key must be derived from a wallet of the keystore.

A script passes --digest with the digest of the wallet that was compared, as this command
shows it, or 'wallets show' of another signer prints it.

wsh, sh(wsh) and sh of multi and sortedmulti are taken, and tr with leaves of multi_a and
sortedmulti_a. Miniscript and musig are refused.

The file keystore authenticates the registration with a key derived from its passphrase's
identity. For other keystores, the lines for the configuration are printed, which pin the
policy. With --config and a store, registering and replacing are leaves in the log.`),
		Example: console.Paragraphs(`
  countersign wallets register --keystore file:keys --name treasury < policy.json
  countersign wallets register --config countersign.yaml --name treasury < descriptor.txt`),
		Args: console.StdinArgs("wallet policy"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.network.Register(command)
	flags := command.Flags()
	flags.StringVar(&c.name, "name", "", "`NAME` of the wallet (default: the one in the input)")
	flags.BoolVar(&c.replace, "replace", false, "replace the registered wallet of that name")
	c.digest.register(flags, "register without asking, if it is the wallet with this `DIGEST`, whose keys were compared before")
	return command
}

func (c *registerCommand) run(cmd *cobra.Command) (err error) {
	if err := c.at.Check(); err != nil {
		return err
	}
	text, err := console.ReadStandardInput(cmd, "wallet policy", walletpolicy.MaxSize)
	if err != nil {
		return err
	}
	policy, err := walletpolicy.Read(text, c.name)
	if err != nil {
		return err
	}
	if err := c.network.RefuseOther("this wallet", policy.TestNetwork()); err != nil {
		return err
	}
	if !deployment.Can[keeper](c.at) {
		line := lineOf(policy, nil)
		if err := c.confirm(cmd, line, policy); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(),
			"This keystore cannot authenticate the wallet: write the policy below to a file, and pin it in the configuration:")
		fmt.Fprintf(cmd.ErrOrStderr(), "wallets:\n  - {organization: %q, file: %q, digest: %s}\n", c.at.Organization,
			"wallet.json", line.Digest)
		return console.PrintLine(cmd, []byte(policy.Canonical()))
	}
	_, keys, err := deployment.OpenFor[keeper](c.at, cmd, noRegistry)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	return c.register(cmd, keys, policy)
}

func (c *registerCommand) register(cmd *cobra.Command, keys keeper, policy *walletpolicy.Policy) error {
	own, err := keys.OwnKeys(cmd.Context(), c.at.Organization, policy)
	if err != nil {
		return err
	}
	if len(own) == 0 {
		return fmt.Errorf("%w: import the words or the xprv of your key first, and check its origin ([fingerprint/path])", file.ErrNotOurs)
	}
	action, err := c.action(cmd.Context(), keys, policy)
	if err != nil || action == "" {
		return err
	}
	line := lineOf(policy, own)
	if err := c.confirm(cmd, line, policy); err != nil {
		return err
	}
	add := file.Registered{OrganizationID: c.at.Organization, Policy: policy, At: time.Now()}
	if add.Leaf, err = logged(cmd.Context(), c.at.Configured, c.at.Organization, action, policy); err != nil {
		return err
	}
	if err := keys.Register(cmd.Context(), add); err != nil {
		return err
	}
	line.Leaf, line.At = add.Leaf, add.At.UTC().Format(time.RFC3339)
	return console.PrintJSON(cmd.OutOrStdout(), line)
}

// action returns what registering is for the log, or an error if the name is taken.
func (c *registerCommand) action(ctx context.Context, keys keeper, policy *walletpolicy.Policy) (string, error) {
	all, err := keys.RegisteredWallets(ctx, c.at.Organization)
	if err != nil {
		return "", err
	}
	action := translog.WalletRegistered
	for _, w := range all {
		err := walletpolicy.CheckNew(policy, w.Policy)
		switch {
		case err != nil:
			return "", err
		case w.Policy.Name() != policy.Name():
		case w.Policy.Digest() == policy.Digest():
			return "", errors.New("this wallet is registered already")
		case c.replace:
			action = translog.WalletReplaced
		case w.Policy.Identity() == policy.Identity():
			return "",
				fmt.Errorf("the wallet %q is registered already, with its keys written in another way: pass "+
					"--replace to keep this form, and its limits", policy.Name())
		default:
			return "", fmt.Errorf("another wallet with the name %q is registered: choose another name, or pass --replace", policy.Name())
		}
	}
	return action, nil
}

// confirm shows the wallet and its first addresses, and asks whether they were compared.
func (c *registerCommand) confirm(cmd *cobra.Command, line walletLine, policy *walletpolicy.Policy) error {
	details := line.details()
	for _, shown := range []struct {
		label  string
		change bool
		index  uint32
	}{{"address", false, 0}, {"address", false, 1}, {"address", false, 2}, {"change address", true, 0}} {
		address, err := addressOf(policy, c.network.Limits().Bitcoin.Network, shown.change, shown.index)
		if err != nil {
			return err
		}
		details = append(details, console.Detail{fmt.Sprintf("%s %d", shown.label, shown.index), address})
	}
	if err := console.PrintDetails(cmd.ErrOrStderr(), details); err != nil {
		return err
	}
	return c.digest.confirmed(policy, func(tty *terminal.Terminal) error {
		if !terminal.Is(cmd.ErrOrStderr()) {
			if err := console.PrintDetails(tty, details); err != nil {
				return err
			}
		}
		return console.Ask(cmd.Context(), tty,
			"Have you compared the others' keys and the addresses with another signer?", "not registered")
	})
}

// logged appends a leaf about a wallet to the organization's log, if the configuration has
// one, and returns the leaf's id.
func logged(ctx context.Context, configured *config.Config, organizationID, action string,
	policy *walletpolicy.Policy) (id string, err error) {
	if configured == nil || configured.Log.Off || configured.Store == config.MemoryStore {
		return "", nil
	}
	opened, err := deployment.OpenRemembered(ctx, configured, false, 0, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	leaf := translog.NewWalletLeaf(organizationID, action, policy.Name(), policy.Digest(), time.Now())
	encoded, err := leaf.Encode()
	if err != nil {
		return "", err
	}
	entry := store.LogEntry{ID: leaf.ID, Leaf: encoded}
	if _, err := opened.AppendLeaves(ctx, organizationID, store.AnySize, []store.LogEntry{entry}); err != nil {
		return "", fmt.Errorf("log: %w", err)
	}
	if memory := deployment.MemoryOf(opened); memory != nil {
		memory.Moved(organizationID)
	}
	return leaf.ID, nil
}

func newRemoveCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var digest digestFlag
	command := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a registered wallet",
		Long: console.Paragraphs(`
Remove a registered wallet. Its keys stay, and it can be registered again. From then on
its inputs and outputs are those of unknown scripts: what goes to them is a payment.`),
		Example: "  countersign wallets remove --keystore file:keys treasury",
		RunE: func(cmd *cobra.Command, args []string) error {
			return opened(cmd, at, args[0], func(keys keeper, w file.Registered) error {
				if err := digest.confirmed(w.Policy, func(tty *terminal.Terminal) error {
					return console.Ask(cmd.Context(), tty, fmt.Sprintf("Remove the wallet %q?", args[0]), "not removed")
				}); err != nil {
					return err
				}
				if _, err := logged(cmd.Context(), at.Configured, at.Organization, translog.WalletRemoved, w.Policy); err != nil {
					return err
				}
				return keys.Unregister(cmd.Context(), at.Organization, args[0])
			})
		},
	}
	digest.register(command.Flags(), "remove without asking, if it is the wallet with this `DIGEST`")
	return command
}

// digestFlag is --digest, which answers for a person: it names the wallet that they compared.
// A mere --yes would agree to any.
type digestFlag string

func (f *digestFlag) register(flags *pflag.FlagSet, usage string) {
	flags.StringVar((*string)(f), "digest", "", usage)
}

// confirmed asks, unless --digest is the policy's. It refuses a digest of another.
func (f digestFlag) confirmed(policy *walletpolicy.Policy, ask func(tty *terminal.Terminal) error) error {
	digest := policy.Digest()
	if own := hex.EncodeToString(digest[:]); f != "" && !strings.EqualFold(string(f), own) {
		return fmt.Errorf("--digest is not this wallet's, which is %s: compare its keys with the other signers", own)
	}
	return console.ConfirmedWith(f != "", "pass --digest with the digest of the wallet that was compared", ask)
}
