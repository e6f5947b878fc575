package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

const noBackup = "an HSM is backed up with its vendor's tools: name a directory with --keystore file:DIR"

func newBackupCommand() *cobra.Command {
	var at keystoreFlags
	command := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy a keystore into a directory, and read the copy back",
		Long: paragraphs(`
Copy a keystore, with the keys of all its organizations, into a directory that is empty
or not there, and open the copy with the passphrase: what can be read back is a backup.
Printed is {"directory":"…","keyFiles":N}.

The keystore may be in use. The copy is encrypted as the keystore is: it needs the same
passphrase, the one of today. To put a whole keystore back, copy the directory to where
it was, or name it with --keystore; 'countersign keys restore --from DIR' brings back
single keys.`),
		Example: "  countersign keys backup --keystore file:keys /media/stick/keys",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return backupKeys(cmd, &at, args[0]) },
	}
	at.register(command)
	return command
}

func backupKeys(cmd *cobra.Command, at *keystoreFlags, to string) error {
	if err := at.check(); err != nil {
		return err
	}
	if !can[restorer](at) {
		return usagef("%s", noBackup)
	}
	from, err := at.directory()
	if err != nil {
		return err
	}
	passphrase, err := at.passphrase(cmd.Context(), false)
	if err != nil {
		return err
	}
	defer keystore.Wipe(passphrase)
	files, err := file.Copy(cmd.Context(), from, to, file.Options{})
	if err != nil {
		return err
	}
	if err := readBack(cmd.Context(), to, passphrase); err != nil {
		return fmt.Errorf("the copy cannot be read back: %w", err)
	}
	return printJSON(cmd.OutOrStdout(), struct {
		Directory string `json:"directory"`
		KeyFiles  int    `json:"keyFiles"`
	}{to, files})
}

func readBack(ctx context.Context, dir string, passphrase []byte) error {
	copied, err := file.Open(ctx, dir, passphrase, file.Options{})
	if err != nil {
		return err
	}
	return copied.Close()
}

// restorer is a keystore that brings keys back.
type restorer interface {
	keystore.Keystore
	Restore(ctx context.Context, organizationID, id, from string) error
}

func newRestoreCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	var from string
	command := &cobra.Command{
		Use:   "restore ID",
		Short: "Bring back a key or a wallet that was deleted",
		Long: paragraphs(`
Bring a key or a wallet back, and print it: from the copy that 'countersign keys delete'
has kept, or from a backup of the same keystore, the directory that --from names. It has
the id, the name and the accounts that it had; a copy that others have made or altered
is refused. A key that is there is not touched.`),
		Example: paragraphs(`
  countersign keys restore --keystore file:keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a
  countersign keys restore --keystore file:keys --from /media/stick/keys 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeKey(cmd, &at, network, args[0], noBackup, func(keys restorer) error {
				err := keys.Restore(cmd.Context(), at.organization, args[0], from)
				if errors.Is(err, fs.ErrNotExist) && from == "" {
					return fmt.Errorf("no copy of %q was kept: name a backup with --from", args[0])
				}
				return err
			})
		},
	}
	at.register(command)
	network.register(command)
	command.Flags().StringVar(&from, "from", "", "a backup of the keystore: its directory `DIR`")
	return command
}
