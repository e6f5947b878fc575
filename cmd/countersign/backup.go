package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/backup"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

func newServerBackupCommand() *cobra.Command {
	var path string
	var withPassphrase bool
	command := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up store, keys and configuration of a running server",
		Long: paragraphs(`
Copy everything a server needs into DIR: a consistent snapshot of the store, the
keystore, the configuration and the files it names. The server may keep running. The
store is copied first, so that the backup has the keys of every signature in it.

The passphrase is not copied unless you pass --with-passphrase: keep it elsewhere,
because the key files are worthless without it. Keys in an HSM are not copied either,
nor is a PostgreSQL database, which pg_dump backs up. The output lists what is missing:

  {"backup":"DIR","files":12,"missing":["…"]}

Restore it with 'countersign restore'.`),
		Example: "  countersign backup --config countersign.yaml /mnt/backup/2026-11-22",
		Args:    namedArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				return usagef("--config is missing: the configuration of the server")
			}
			return makeBackup(cmd, path, args[0], withPassphrase)
		},
	}
	command.Flags().StringVar(&path, "config", "", "configuration `FILE` of the server: countersign.yaml")
	command.Flags().BoolVar(&withPassphrase, "with-passphrase", false, "copy the passphrase too: the backup alone then reveals the keys")
	return command
}

func makeBackup(cmd *cobra.Command, path, dir string, withPassphrase bool) error {
	configured, err := config.Read(path)
	if err != nil {
		return err
	}
	to, err := backup.NewWriter(dir, path, time.Now())
	if err != nil {
		return err
	}
	if err := backUpStore(cmd.Context(), to, configured); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := backUpKeys(cmd.Context(), to, configured, withPassphrase); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	for _, name := range configured.Files() {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		add := to.AddFile
		if info.IsDir() {
			add = to.AddTree
		}
		if err := add(name); err != nil {
			return err
		}
	}
	if err := to.Close(); err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), struct {
		Backup  string   `json:"backup"`
		Files   int      `json:"files"`
		Missing []string `json:"missing"`
	}{dir, len(to.Manifest.Files), to.Manifest.Missing})
}

func backUpKeys(ctx context.Context, to *backup.Writer, configured *config.Config, withPassphrase bool) error {
	missing := func(what string) { to.Manifest.Missing = append(to.Manifest.Missing, what) }
	dir, ok := strings.CutPrefix(configured.Keystore, "file:")
	if !ok {
		missing("the keys: they are in an HSM; its vendor documents how to back it up")
		return nil
	}
	if err := copyKeys(ctx, to, dir); err != nil {
		return err
	}
	switch {
	case configured.PassphraseFile == "":
		missing("the passphrase: it is entered on the terminal")
	case withPassphrase:
		return to.AddFile(configured.PassphraseFile)
	default:
		missing("the passphrase: " + configured.PassphraseFile)
	}
	return nil
}

// copyKeys adds a keystore by way of a consistent copy.
func copyKeys(ctx context.Context, to *backup.Writer, dir string) (err error) {
	temporary, err := os.MkdirTemp("", "countersign-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	copied := filepath.Join(temporary, "keys")
	if _, err := file.Copy(ctx, dir, copied, file.Options{}); err != nil {
		return err
	}
	return to.AddCopy(dir, copied)
}

func backUpStore(ctx context.Context, to *backup.Writer, configured *config.Config) error {
	path, isBolt := strings.CutPrefix(configured.Store, "bolt:")
	switch {
	case configured.Store == config.MemoryStore:
		to.Manifest.Missing = append(to.Manifest.Missing, "the store: it is in memory, and empty after each start")
		return nil
	case !isBolt:
		to.Manifest.Missing = append(to.Manifest.Missing,
			"the database: run pg_dump --format=custom --file=state.dump with the URL of the configuration, and pg_restore --dbname to restore it")
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		to.Manifest.Missing = append(to.Manifest.Missing, "the store: there is none yet")
		return nil
	}
	if snapshot, err := askForSnapshot(ctx, path); err == nil {
		defer func() { _ = snapshot.Close() }()
		return to.Add(path, snapshot)
	}
	opened, err := bolt.Open(path)
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w, which offers no backups at %s: is it an older version, or does it run as another user?", err, snapshotAddress(path))
	}
	if err != nil {
		return err
	}
	err = opened.Snapshot(ctx, func(_ int64, from io.WriterTo) error { return to.Add(path, from) })
	return errors.Join(err, opened.Close())
}

// snapshotAddress returns the socket at which a server offers snapshots of its store. It is
// in a directory next to the store's file that only the same user can enter.
func snapshotAddress(store string) string { return filepath.Join(store+".backup", "socket") }

// sentSnapshot is a snapshot sent by a server: its size as 8 bytes, big-endian, and then
// that many bytes.
type sentSnapshot struct {
	net.Conn
	size int64
}

// askForSnapshot asks the server that has the store open for a snapshot.
func askForSnapshot(ctx context.Context, store string) (*sentSnapshot, error) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "unix", snapshotAddress(store))
	if err != nil {
		return nil, err
	}
	var size [8]byte
	if _, err := io.ReadFull(connection, size[:]); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return &sentSnapshot{connection, int64(binary.BigEndian.Uint64(size[:]))}, nil //nolint:gosec // the size of a file
}

// WriteTo implements io.WriterTo. It fails if the snapshot is cut off.
func (s *sentSnapshot) WriteTo(w io.Writer) (int64, error) {
	return io.CopyN(w, s.Conn, s.size)
}
