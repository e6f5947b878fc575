// Package serve is the commands that run a server, and look after one: serve, health,
// backup and restore.
package serve

import (
	"archive/tar"
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

	"github.com/countersign-dev/countersign/internal/cli/backup"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// snapshotStall bounds how long a backup that does not read can hold a snapshot.
// The store cannot reuse the pages of a snapshot while it is held.
const snapshotStall = 30 * time.Second

// giveSnapshots serves snapshots of a bolt store to backup commands of the same user, until close.
func (s *Server) giveSnapshots(ctx context.Context) {
	file, ok := deployment.WithoutMemory(s.records).(*bolt.Store)
	if !ok {
		return
	}
	path := strings.TrimPrefix(s.loaded().Configured.Store, "bolt:")
	listener, err := listenForBackups(snapshotAddress(path))
	if err != nil {
		s.log.Warn("backups are unavailable while the server runs", "cause", err)
		return
	}
	s.ends = append(s.ends, func() error {
		_ = listener.Close() // nothing was written
		return nil
	})
	go func() {
		for {
			to, err := listener.Accept()
			if err != nil {
				return
			}
			go s.giveSnapshot(ctx, file, to)
		}
	}()
}

// listenForBackups binds the socket in a directory that only this user can enter. A
// bare socket would be open to others between being bound and being chmodded.
func listenForBackups(address string) (net.Listener, error) {
	dir := filepath.Dir(address)
	// A server that was killed leaves these behind; no other process has the store open.
	_ = os.Remove(address)
	_ = os.Remove(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", address)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return backupListener{listener, dir}, nil
}

type backupListener struct {
	net.Listener
	dir string
}

func (l backupListener) Close() error {
	return errors.Join(l.Listener.Close(), os.Remove(l.dir))
}

// giveSnapshot sends the store to one client. The snapshot ends with the context, so
// that a stopping server does not wait for a client that does not read.
func (s *Server) giveSnapshot(ctx context.Context, file *bolt.Store, to net.Conn) {
	defer func() { _ = to.Close() }()
	defer context.AfterFunc(ctx, func() { _ = to.Close() })()
	err := file.Snapshot(ctx, func(size int64, from io.WriterTo) error {
		var head [8]byte
		binary.BigEndian.PutUint64(head[:], uint64(size)) //nolint:gosec // not negative
		stalled := unstalled{to}
		_, err := stalled.Write(head[:])
		_, copyErr := from.WriteTo(stalled)
		return errors.Join(err, copyErr)
	})
	if err != nil {
		s.log.Warn("store backup aborted", "cause", err)
		return
	}
	s.log.Info("store backed up")
}

// unstalled is a connection whose writes fail once the peer has read nothing for snapshotStall.
type unstalled struct{ net.Conn }

func (u unstalled) Write(p []byte) (int, error) {
	const piece = 1 << 20
	written := 0
	for len(p) > 0 {
		if err := u.SetWriteDeadline(time.Now().Add(snapshotStall)); err != nil {
			return written, err
		}
		n, err := u.Conn.Write(p[:min(len(p), piece)])
		written += n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}

// NewServerBackupCommand returns the command backup.
func NewServerBackupCommand() *cobra.Command {
	var path string
	var withPassphrase bool
	command := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up store, keys and configuration of a running server",
		Long: console.Paragraphs(`
Copy everything a server needs into DIR: a consistent snapshot of the store, the
keystore, the configuration and the files it names. The server may keep running. The
store is copied first, so that the backup has the keys of every signature in it.

The passphrase is not copied unless you pass --with-passphrase: keep it elsewhere,
because the key files are worthless without it. Keys in an HSM are not copied either,
nor is a PostgreSQL database, which pg_dump backs up. The output lists what is missing:

  {"backup":"DIR","files":12,"missing":["…"]}

What this machine remembers of its logs (log.memory) is not part of a backup: it is
what a restored store is compared with.

If DIR is -, the backup goes to standard output as a tar archive, and the list to
standard error: a container has no other way out.

Restore it with 'countersign restore'.`),
		Example: console.Paragraphs(`
  countersign backup --config countersign.yaml /mnt/backup/2026-11-22
  kubectl exec countersign-0 -- \
      /countersign backup --config /state/deployment/countersign.yaml - > backup.tar`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != console.StandardInput {
				return makeBackup(cmd, cmd.OutOrStdout(), path, args[0], withPassphrase)
			}
			return withTemporary(func(dir string) error {
				if err := makeBackup(cmd, cmd.ErrOrStderr(), path, dir, withPassphrase); err != nil {
					return err
				}
				archive := tar.NewWriter(cmd.OutOrStdout())
				return errors.Join(archive.AddFS(os.DirFS(dir)), archive.Close())
			})
		},
	}
	command.Flags().StringVar(&path, "config", "", "configuration `FILE` of the server: countersign.yaml")
	console.Require(command, "config", "the configuration of the server")
	command.Flags().BoolVar(&withPassphrase, "with-passphrase", false, "copy the passphrase too: the backup alone then reveals the keys")
	return command
}

// withTemporary calls a function with a new directory, which it removes afterwards.
func withTemporary(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "countersign-")
	if err != nil {
		return err
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}

// makeBackup writes a backup to a directory, and what is in it to answer.
func makeBackup(cmd *cobra.Command, answer io.Writer, path, dir string, withPassphrase bool) error {
	configured, err := config.Read(path)
	if err != nil {
		return err
	}
	now := time.Now()
	backUp, closing, err := openForBackup(cmd.Context(), configured)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { _ = closing() }() // it was only read
	to, err := backup.NewWriter(dir, path, now)
	if err != nil {
		return err
	}
	if err := backUp(to); err != nil {
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
	home, homeErr := filepath.Abs(filepath.Dir(path))
	at, err := filepath.Abs(dir)
	if below, relErr := filepath.Rel(home, at); errors.Join(homeErr, err, relErr) == nil && filepath.IsLocal(below) {
		fmt.Fprintln(cmd.ErrOrStderr(),
			"warning: the backup is inside the deployment that it is of: what destroys one destroys both")
	}
	return console.PrintJSON(answer, struct {
		Backup  string   `json:"backup"`
		Files   int      `json:"files"`
		Missing []string `json:"missing"`
	}{dir, len(to.Manifest.Files), to.Manifest.Missing})
}

func backUpKeys(ctx context.Context, to *backup.Writer, configured *config.Config, withPassphrase bool) error {
	missing := func(what string) { to.Manifest.Missing = append(to.Manifest.Missing, what) }
	dir, _, ok := config.KeystoreDirectory(configured.Keystore)
	if !ok {
		missing("the keys: they are in an HSM; its vendor documents how to back it up")
		return nil
	}
	if err := withTemporary(func(temporary string) error { // by way of a consistent copy
		copied := filepath.Join(temporary, "keys")
		if _, err := file.Copy(ctx, dir, copied, file.Options{}); err != nil {
			return err
		}
		return to.AddCopy(dir, copied)
	}); err != nil {
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

// openForBackup opens the store before anything is written: without one there is nothing to
// back up. It returns how to back it up: one that this process has opened, or a snapshot that
// a server sends. One that cannot be copied from here is noted as missing.
func openForBackup(ctx context.Context, configured *config.Config) (backUp func(*backup.Writer) error,
	closing func() error, err error) {
	path, isBolt := strings.CutPrefix(configured.Store, "bolt:")
	missing := "the store: it is in memory, and empty after each start"
	if configured.Store != config.MemoryStore && !isBolt {
		opened, err := deployment.OpenStore(ctx, configured)
		if err == nil {
			err = opened.Close()
		} else if !errors.Is(err, store.ErrNone) {
			err = nil // the keys can be backed up while the database is unreachable
		}
		if err != nil {
			return nil, nil, err
		}
		missing = "the database: run pg_dump --format=custom --file=state.dump with the URL " +
			"of the configuration, and pg_restore --dbname to restore it"
	}
	if !isBolt {
		return func(to *backup.Writer) error {
			to.Manifest.Missing = append(to.Manifest.Missing, missing)
			return nil
		}, func() error { return nil }, nil
	}
	if sent, err := askForSnapshot(ctx, path); err == nil {
		return func(to *backup.Writer) error { return to.Add(path, sent) }, sent.Close, nil
	}
	opened, err := bolt.OpenExisting(path)
	if errors.Is(err, store.ErrInUse) {
		return nil, nil,
			fmt.Errorf("%w, which offers no backups at %s: is it an older version, or does it run as another user?",
				err, snapshotAddress(path))
	}
	if err != nil {
		return nil, nil, deployment.RefuseNone(err)
	}
	return func(to *backup.Writer) error {
		if err := opened.Check(ctx); err != nil {
			return err
		}
		return opened.Snapshot(ctx, func(_ int64, from io.WriterTo) error { return to.Add(path, from) })
	}, opened.Close, nil
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
