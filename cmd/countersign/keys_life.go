package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// The capabilities that commands about one key ask for.
type (
	renamer interface {
		keystore.Keystore
		keystore.Renamer
	}
	disabler interface {
		keystore.Keystore
		keystore.Disabler
	}
	delegator interface {
		keystore.Keystore
		keystore.Delegator
	}
	deleter interface {
		keystore.Keystore
		keystore.Deleter
	}
)

const (
	noDisabling = "an HSM cannot put one key out of use: disable the credentials or deny the key in a policy, or delete the key"
	noActing    = "an HSM does not keep which account a key acts for: import the access key with --keystore file:DIR"
)

func newRenameCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	command := &cobra.Command{
		Use:   "rename ID NAME",
		Short: "Give a key or a wallet another name",
		Long: paragraphs(`
Give a key, or a wallet with all its accounts, another name, and print the key. Its id
and its addresses stay; servers that have the keystore open know the new name at once.
An empty NAME takes the name away.`),
		Example: "  countersign keys rename --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a 'cold wallet'",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeKey(cmd, &at, network, args[0], "this keystore does not rename keys", func(keys renamer) error {
				return keys.Rename(cmd.Context(), at.organization, args[0], args[1])
			})
		},
	}
	at.register(command)
	network.register(command)
	return command
}

func newDisableCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	command := &cobra.Command{
		Use:   "disable ID",
		Short: "Put a key or a wallet out of use",
		Long: paragraphs(`
Put a key, an account, or a wallet with all its accounts, out of use, and print the key.
From when this ends, no process that has the keystore open finds it, servers among them:
requests are answered as if there were no such key, and the server's log says that a
disabled key was asked for. The secret stays in the keystore, encrypted; 'countersign keys
enable' undoes it. A signature that was under way may still be finished.`),
		Example: "  countersign keys disable --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeKey(cmd, &at, network, args[0], noDisabling, func(keys disabler) error {
				return keys.Disable(cmd.Context(), at.organization, args[0])
			})
		},
	}
	at.register(command)
	network.register(command)
	return command
}

func newEnableCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	command := &cobra.Command{
		Use:     "enable ID",
		Short:   "Put a key or a wallet that is disabled back into use",
		Long:    "Put a key, an account or a wallet back into use after 'countersign keys disable', and print it.\n",
		Example: "  countersign keys enable --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeKey(cmd, &at, network, args[0], noDisabling, func(keys disabler) error {
				return keys.Enable(cmd.Context(), at.organization, args[0])
			})
		},
	}
	at.register(command)
	network.register(command)
	return command
}

func newActForCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	command := &cobra.Command{
		Use:   "act-for ID ACCOUNT",
		Short: "Make a key an access key of another account (Tempo)",
		Long: paragraphs(`
Make a secp256k1 key an access key: on Tempo it signs for ACCOUNT, an address that has
authorized it, in place of its own address; print the key. With none as the ACCOUNT it
signs for its own again. On other chains, and as the payer of a fee, it makes no
difference.`),
		Example: "  countersign keys act-for --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			account, err := parseActsFor(args[1])
			if err != nil {
				return err
			}
			return changeKey(cmd, &at, network, args[0], noActing, func(keys delegator) error {
				return keys.ActFor(cmd.Context(), at.organization, args[0], account)
			})
		},
	}
	at.register(command)
	network.register(command)
	return command
}

// changeKey changes a key or a wallet and prints what it is now.
func changeKey[Capability keystore.Keystore](cmd *cobra.Command, at *keystoreFlags, network networkFlag, id, refusal string, change func(Capability) error) (err error) {
	if err := network.check(); err != nil {
		return err
	}
	keys, err := openFor[Capability](at, cmd, refusal)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	if err := change(keys); err != nil {
		return noSuchKey(at, id, err)
	}
	if keeper, ok := any(keys).(walletKeeper); ok {
		if w, ok, err := findWallet(cmd.Context(), keeper, at.organization, id); ok || err != nil {
			return orPrint(cmd, err, network.wallet(w))
		}
	}
	line, err := keyLineOf(cmd.Context(), keys, at, network, id)
	return orPrint(cmd, err, line)
}

// orPrint prints a value if there is no error.
func orPrint(cmd *cobra.Command, err error, value any) error {
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), value)
}

// noSuchKey says where the ids of keys are to be found.
func noSuchKey(at *keystoreFlags, id string, err error) error {
	if errors.Is(err, keystore.ErrKeyNotFound) {
		return fmt.Errorf("organization %q has no key or wallet with the id %q: 'countersign keys list' prints them", at.organization, id)
	}
	return err
}

// deleteCommand is one call of keys delete.
type deleteCommand struct {
	at     keystoreFlags
	noCopy bool
	yes    bool
}

func newDeleteCommand() *cobra.Command {
	var c deleteCommand
	command := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a key or a wallet",
		Long: paragraphs(`
Delete a key, or a wallet with all its accounts, after asking on the terminal; --yes says
yes beforehand. From when this ends, no process that has the keystore open signs with it.

A directory keeps an encrypted copy, from which 'countersign keys restore' brings it back;
with --no-copy it is gone, as far as there is no backup. An HSM keeps no copy: there,
--no-copy must be given. What a key holds on its chains cannot be reached without it.`),
		Example: "  countersign keys delete --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	c.at.register(command)
	command.Flags().BoolVar(&c.noCopy, "no-copy", false, "keep no copy: without a backup, the key is lost")
	command.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	return command
}

func (c *deleteCommand) run(cmd *cobra.Command, id string) (err error) {
	keys, err := openFor[deleter](&c.at, cmd, "this keystore deletes no keys")
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	archiver, keepsCopy := keys.(keystore.Archiver)
	if !c.noCopy && !keepsCopy {
		return usagef("an HSM keeps no copy of a key that is deleted: --no-copy deletes it for good")
	}
	if err := c.confirm(cmd, id); err != nil {
		return err
	}
	if c.noCopy {
		return noSuchKey(&c.at, id, keys.Delete(cmd.Context(), c.at.organization, id))
	}
	copied, err := archiver.Archive(cmd.Context(), c.at.organization, id)
	if err != nil {
		return noSuchKey(&c.at, id, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Deleted. 'countersign keys restore %s' brings it back, as long as %s is there.\n", id, copied)
	return nil
}

func (c *deleteCommand) confirm(cmd *cobra.Command, id string) error {
	question := fmt.Sprintf("Delete %q? An encrypted copy is kept.", id)
	if c.noCopy {
		question = fmt.Sprintf("Delete %q for good? Without a backup, what it holds is lost.", id)
	}
	return confirmed(c.yes, func(tty *terminal.Terminal) error {
		yes, err := tty.Confirm(cmd.Context(), question)
		if err == nil && !yes {
			err = errors.New("not deleted: the answer was not yes")
		}
		return err
	})
}

// evmAddress writes an address of 40 hex digits as people do (EIP-55).
func evmAddress(digits string) string { return common.HexToAddress(digits).Hex() }

// parseActsFor reads the account of an access key; none is no account.
func parseActsFor(text string) (string, error) {
	if text == "none" {
		return "", nil
	}
	digits, prefixed := strings.CutPrefix(text, "0x")
	switch mixed := digits != strings.ToLower(digits) && digits != strings.ToUpper(digits); {
	case !prefixed || !common.IsHexAddress(text):
		return "", usagef("the account that the key acts for, %q, is not an address: 0x and 40 hex digits are expected, or none", text)
	case mixed && evmAddress(digits) != text:
		return "", usagef("the account that the key acts for, %q: the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped", text)
	}
	return strings.ToLower(digits), nil
}
