package keys

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

// passphraseKeeper is a keystore that a passphrase opens.
type passphraseKeeper interface {
	keystore.Keystore
	ChangePassphrase(passphrase []byte) error
}

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
		Example: "  countersign keys passphrase change --keystore file:keys --passphrase-file old --new-passphrase-file new",
		RunE:    func(cmd *cobra.Command, _ []string) error { return changePassphrase(cmd, at, newFile) },
	}
	command.Flags().StringVar(&newFile, "new-passphrase-file", "",
		"`FILE` with the new passphrase, mode 0600 (default: ask on the terminal)")
	return command
}

func changePassphrase(cmd *cobra.Command, flags *deployment.KeystoreFlags, newFile string) (err error) {
	keys, err := deployment.OpenFor[passphraseKeeper](flags, cmd, noPassphrase)
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
	if err := keys.ChangePassphrase(passphrase); err != nil {
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
