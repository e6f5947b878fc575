package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/keystore"
)

func newPassphraseCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "passphrase",
		Short: "Change the passphrase of a keystore",
		Long:  "Change the passphrase of a keystore in a directory.\n",
		Args:  commandOnly,
		RunE:  chooseCommand,
	}
	command.AddCommand(newPassphraseChangeCommand())
	return command
}

// passphraseKeeper is a keystore that a passphrase opens.
type passphraseKeeper interface {
	keystore.Keystore
	ChangePassphrase(passphrase []byte) error
}

const noPassphrase = "an HSM has a PIN, which its own tools change: name a directory with --keystore file:DIR"

func newPassphraseChangeCommand() *cobra.Command {
	var at keystoreFlags
	var newFile string
	command := &cobra.Command{
		Use:   "change",
		Short: "Encrypt the keystore's identity with another passphrase",
		Long: paragraphs(`
Encrypt the identity of a keystore with another passphrase, from the file that
--new-passphrase-file names or from the terminal, where it is asked for twice.

The keys, their ids, names and wallets stay as they are; running servers go on.
If the machine fails meanwhile, either the old or the new passphrase opens the
keystore. The keys are not made anew: a copy of the old identity.age, as in a
backup, is still opened by the old passphrase.`),
		Example: "  countersign keys passphrase change --keystore file:keys --passphrase-file old --new-passphrase-file new",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return changePassphrase(cmd, &at, newFile) },
	}
	at.register(command)
	command.Flags().StringVar(&newFile, "new-passphrase-file", "", "`FILE` with the new passphrase, mode 0600 (default: asked for on the terminal)")
	return command
}

func changePassphrase(cmd *cobra.Command, at *keystoreFlags, newFile string) (err error) {
	if err := harden.NoCoreDumps(); err != nil { // before any secret is read
		return err
	}
	keys, err := openFor[passphraseKeeper](at, cmd, noPassphrase)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	passphrase, err := newPassphrase(cmd.Context(), newFile)
	if err != nil {
		return err
	}
	defer keystore.Wipe(passphrase)
	if err := keys.ChangePassphrase(passphrase); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "The passphrase is changed. Backups made before are still opened by the old one.")
	return nil
}

// newPassphrase gets a new passphrase, which the caller wipes.
func newPassphrase(ctx context.Context, path string) ([]byte, error) {
	if path == "" {
		return askPassphrase(ctx, true)
	}
	file, err := openSecret(path)
	if err != nil {
		return nil, fmt.Errorf("--new-passphrase-file: %w", err)
	}
	defer func() { _ = file.Close() }()
	passphrase, err := readPassphrase(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("--new-passphrase-file %s: %w", path, err)
	}
	return passphrase, nil
}
