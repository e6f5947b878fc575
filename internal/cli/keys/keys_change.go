package keys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

const (
	noRenaming  = "this keystore does not rename keys"
	noDisabling = "an HSM cannot disable a single key: remove the credentials, deny the key in a policy, or delete the key"
	noActing    = "an HSM does not store which account a key acts for: import the access key with --keystore file:DIR"
)

func newRenameCommand(at *deployment.KeystoreFlags) *cobra.Command {
	return changeCommand(at, &cobra.Command{
		Use:   "rename ID NAME",
		Short: "Rename a key or a wallet",
		Long: console.Paragraphs(`
Rename a key, or a wallet with all its accounts, and print it. Its id and its addresses
do not change. Servers that have the keystore open use the new name at once. An empty
NAME removes the name.`),
		Example: "  countersign keys rename --keystore file:keys 0198… 'cold wallet'",
	}, noRenaming, func(ctx context.Context, keys keystore.Renamer, organizationID string, args []string) error {
		return keys.Rename(ctx, organizationID, args[0], args[1])
	})
}

func newDisableCommand(at *deployment.KeystoreFlags) *cobra.Command {
	return changeCommand(at, &cobra.Command{
		Use:   "disable ID",
		Short: "Disable a key or a wallet",
		Long: console.Paragraphs(`
Disable a key, an account, or a wallet with all its accounts, and print it. Once the
command ends, no process that has the keystore open finds the key: servers answer
requests as if it did not exist, and log that a disabled key was requested. The secret
stays in the keystore, encrypted, and 'countersign keys enable' enables it again. A
signature in progress may still be completed.`),
		Example: "  countersign keys disable --keystore file:keys 0198…",
	}, noDisabling, func(ctx context.Context, keys keystore.Disabler, organizationID string, args []string) error {
		return keys.Disable(ctx, organizationID, args[0])
	})
}

func newEnableCommand(at *deployment.KeystoreFlags) *cobra.Command {
	return changeCommand(at, &cobra.Command{
		Use:     "enable ID",
		Short:   "Enable a disabled key or wallet",
		Long:    "Enable a key, an account or a wallet that 'countersign keys disable' disabled, and print it.\n",
		Example: "  countersign keys enable --keystore file:keys 0198…",
	}, noDisabling, func(ctx context.Context, keys keystore.Disabler, organizationID string, args []string) error {
		return keys.Enable(ctx, organizationID, args[0])
	})
}

func newActForCommand(at *deployment.KeystoreFlags) *cobra.Command {
	return changeCommand(at, &cobra.Command{
		Use:   "act-for ID ACCOUNT",
		Short: "Make a key the access key of another account (Tempo)",
		Long: console.Paragraphs(`
Make a secp256k1 key an access key, and print it: on Tempo it then signs for ACCOUNT, an
address that has authorized it, instead of for its own address. With none as the
ACCOUNT, it signs for its own address again. On other chains, and for the payer of a fee,
nothing changes.`),
		Example: "  countersign keys act-for --keystore file:keys 0198… 0x97cC…",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := console.NamedArgs(cmd, args); err != nil {
				return err
			}
			_, err := parseActsFor(args[1])
			return err
		},
	}, noActing, func(ctx context.Context, keys keystore.Delegator, organizationID string, args []string) error {
		account, err := parseActsFor(args[1])
		if err != nil {
			return err
		}
		return keys.ActFor(ctx, organizationID, args[0], account)
	})
}

// changeCommand completes a command that changes the key or wallet named by its first
// argument, and prints it afterwards. refusal says why a keystore lacks the capability.
func changeCommand[Capability any](at *deployment.KeystoreFlags, command *cobra.Command, refusal string,
	change func(ctx context.Context, keys Capability, organizationID string, args []string) error) *cobra.Command {
	var network show.NetworkFlag
	command.RunE = func(cmd *cobra.Command, args []string) (err error) {
		at.WarnOnly = cmd.Name() == "disable"
		keys, can, err := deployment.OpenFor[Capability](at, cmd, refusal)
		if err != nil {
			return err
		}
		defer deployment.CloseKeystore(keys, &err)
		if err := change(cmd.Context(), can, at.Organization, args); err != nil {
			return noSuchKey(at.Organization, args[0], err)
		}
		return printKeyOrWallet(cmd, keys, at.Organization, network, args[0])
	}
	network.Register(command)
	return command
}

func printKeyOrWallet(cmd *cobra.Command, keys keystore.Keystore, organizationID string, network show.NetworkFlag, id string) error {
	if keeper, ok := keys.(walletKeeper); ok {
		w, found, err := findWallet(cmd.Context(), keeper, organizationID, id)
		if err != nil {
			return err
		}
		if found {
			return console.PrintJSON(cmd.OutOrStdout(), walletLineOf(&network, w))
		}
	}
	line, err := keyLineOf(cmd.Context(), keys, organizationID, network, id)
	if err != nil {
		return err
	}
	return console.PrintJSON(cmd.OutOrStdout(), line)
}

// noSuchKey explains the error for an unknown id; other errors are returned unchanged.
func noSuchKey(organizationID, id string, err error) error {
	if errors.Is(err, keystore.ErrKeyNotFound) {
		return fmt.Errorf("organization %q has no key or wallet with the id %q: 'countersign keys list' prints them", organizationID, id)
	}
	return err
}

type deleteCommand struct {
	at     *deployment.KeystoreFlags
	noCopy bool
	yes    bool
}

func newDeleteCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := deleteCommand{at: at}
	command := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a key or a wallet",
		Long: console.Paragraphs(`
Delete a key, or a wallet with all its accounts, after asking for confirmation on the
terminal; --yes confirms in advance. Once the command ends, no process that has the
keystore open signs with it. Without the key, what it holds on its chains is out of
reach.

A directory keeps an encrypted copy, which 'countersign keys restore' brings back. With
--no-copy there is none: unless there is a backup, the key is lost. An HSM keeps no
copies, so --no-copy is required there.`),
		Example: "  countersign keys delete --keystore file:keys 0198…",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	command.Flags().BoolVar(&c.noCopy, "no-copy", false, "keep no copy: without a backup, the key is lost")
	command.Flags().BoolVar(&c.yes, "yes", false, "do not ask for confirmation")
	return command
}

func (c *deleteCommand) run(cmd *cobra.Command, id string) (err error) {
	keys, deleter, err := deployment.OpenFor[keystore.Deleter](c.at, cmd, "this keystore deletes no keys")
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	archiver, keepsCopy := keys.(keystore.Archiver)
	if !c.noCopy && !keepsCopy {
		return console.Usagef("an HSM keeps no copy of a deleted key: pass --no-copy to delete it for good")
	}
	question := fmt.Sprintf("Delete %q? An encrypted copy is kept.", id)
	if c.noCopy {
		question = fmt.Sprintf("Delete %q for good? Without a backup, what it holds is lost.", id)
	}
	if err := confirmKeys(cmd.Context(), c.yes, question, "not deleted"); err != nil {
		return err
	}
	if err := c.at.Judge(cmd.Context(), keys, cmd.ErrOrStderr(), id, ""); err != nil {
		return err
	}
	if c.noCopy {
		return noSuchKey(c.at.Organization, id, deleter.Delete(cmd.Context(), c.at.Organization, id))
	}
	archived, err := archiver.Archive(cmd.Context(), c.at.Organization, id)
	if err != nil {
		return noSuchKey(c.at.Organization, id, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Deleted. 'countersign keys restore %s' brings it back, as long as %s is there.\n", id, archived)
	return nil
}

// parseActsFor parses the account of an access key. It returns lower-case hex digits, or
// "" for none.
func parseActsFor(text string) (string, error) {
	if text == "none" {
		return "", nil
	}
	digits, prefixed := strings.CutPrefix(text, "0x")
	isMixed := digits != strings.ToLower(digits) && digits != strings.ToUpper(digits)
	switch {
	case !prefixed || !common.IsHexAddress(text):
		return "", console.Usagef("ACCOUNT %q is not an address: expected 0x and 40 hex digits, or none", text)
	case isMixed && show.EVMAddress(digits) != text:
		return "", console.Usagef("ACCOUNT %q: the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped", text)
	}
	return strings.ToLower(digits), nil
}

// passphraseKeeper is a keystore that a passphrase opens.
type passphraseKeeper interface{ ChangePassphrase(passphrase []byte) error }

const noPassphrase = "an HSM has a PIN, which its own tools change: name a directory with --keystore file:DIR"

func newPassphraseChangeCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var newFile string
	command := &cobra.Command{
		Use:   "change",
		Short: "Encrypt the keystore's identity with a new passphrase",
		Long: console.Paragraphs(`
Encrypt the identity of a keystore with a new passphrase, from the file that
--new-passphrase-file names or from the terminal, which asks for it twice.

Keys, ids, names and wallets stay the same, and running servers are not affected. If the
machine crashes meanwhile, either the old or the new passphrase opens the keystore. The
keys themselves are not replaced: the old passphrase still opens an old copy of
identity.age, such as one in a backup.

With --config, the new passphrase also replaces the old one in the passphraseFile.`),
		Example: "  countersign keys passphrase change --keystore file:keys --new-passphrase-file new",
		RunE:    func(cmd *cobra.Command, _ []string) error { return changePassphrase(cmd, at, newFile) },
	}
	command.Flags().StringVar(&newFile, "new-passphrase-file", "",
		"`FILE` with the new passphrase, mode 0600 (default: ask on the terminal)")
	return command
}

func changePassphrase(cmd *cobra.Command, flags *deployment.KeystoreFlags, newFile string) (err error) {
	keys, keeper, err := deployment.OpenFor[passphraseKeeper](flags, cmd, noPassphrase)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	chosen := &deployment.KeystoreFlags{PassphraseFile: newFile, PassphraseNamed: "--new-passphrase-file"}
	passphrase, err := chosen.Passphrase(cmd.Context(), true)
	if err != nil {
		return err
	}
	defer keystore.Wipe(passphrase)
	if err := keeper.ChangePassphrase(passphrase); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "The passphrase is changed. The old one still opens backups made before.")
	if flags.Configured == nil {
		fmt.Fprintln(cmd.ErrOrStderr(),
			"If a configuration names a passphraseFile, put the new one into it before the next start; with --config this command does.")
		return nil
	}
	if flags.Configured.PassphraseFile == "" || flags.Set("passphrase-file") {
		return nil
	}
	line := append(bytes.Clone(passphrase), '\n')
	defer keystore.Wipe(line)
	if err := trust.ReplaceKept(flags.Configured.PassphraseFile, line, nil); err != nil {
		return fmt.Errorf("the new passphrase is not in passphraseFile %s, without which the next start fails: put "+
			"it there: %w", flags.Configured.PassphraseFile, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s has the new one.\n", flags.Configured.PassphraseFile)
	return nil
}
