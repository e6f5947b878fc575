package keys

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

const noBackup = "an HSM is backed up with its vendor's tools: name a directory with --keystore file:DIR"

func newBackupCommand(at *deployment.KeystoreFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy a keystore into a directory, and verify the copy",
		Long: console.Paragraphs(`
Copy a keystore, with the keys of all its organizations, into a directory that is empty
or does not exist, and verify the copy by opening it with the passphrase. Prints
{"directory":"…","keyFiles":N}.

The keystore may be in use. The copy is encrypted like the keystore, and needs the
passphrase that the keystore has today. To restore the whole keystore, copy the directory
back to its place, or name it with --keystore. 'countersign keys restore --from DIR'
restores single keys.`),
		Example: "  countersign keys backup --keystore file:keys /media/stick/keys",
		RunE:    func(cmd *cobra.Command, args []string) error { return backupKeys(cmd, at, args[0]) },
	}
}

func backupKeys(cmd *cobra.Command, flags *deployment.KeystoreFlags, to string) error {
	if err := flags.Check(); err != nil {
		return err
	}
	if !deployment.Can[restorer](flags) {
		return console.Usagef("%s", noBackup)
	}
	from, _, err := flags.Directory()
	if err != nil {
		return err
	}
	passphrase, err := flags.Passphrase(cmd.Context(), false)
	if err != nil {
		return err
	}
	defer keystore.Wipe(passphrase)
	files, err := file.Copy(cmd.Context(), from, to, file.Options{})
	if err != nil {
		return err
	}
	copied, err := file.Open(cmd.Context(), to, passphrase, file.Options{})
	if err == nil {
		err = copied.Close()
	}
	if err != nil {
		return fmt.Errorf("the copy cannot be read back: %w", err)
	}
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		Directory string `json:"directory"`
		KeyFiles  int    `json:"keyFiles"`
	}{to, files})
}

type restorer interface {
	Restore(ctx context.Context, organizationID, id, from string) error
}

func newRestoreCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var from string
	command := changeCommand(at, &cobra.Command{
		Use:   "restore ID",
		Short: "Restore a deleted key or wallet",
		Long: console.Paragraphs(`
Restore a key or a wallet, and print it: from the copy that 'countersign keys delete'
kept, or from a backup of the same keystore, in the directory that --from names. It gets
back its id, name and accounts. A copy that was altered, or made without the keystore's
passphrase, is refused. A key that exists is not touched.`),
		Example: console.Paragraphs(`
  countersign keys restore --keystore file:keys 0198…
  countersign keys restore --keystore file:keys --from /media/stick/keys 0198…`),
	}, noBackup, func(ctx context.Context, keys restorer, organizationID string, args []string) error {
		err := keys.Restore(ctx, organizationID, args[0], from)
		if errors.Is(err, fs.ErrNotExist) && from == "" {
			return fmt.Errorf("no copy of %q was kept: name a backup with --from", args[0])
		}
		return err
	})
	command.Flags().StringVar(&from, "from", "", "restore from the backup of the keystore in `DIR`")
	return command
}
