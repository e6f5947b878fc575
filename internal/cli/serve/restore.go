package serve

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/cli/backup"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// NewServerRestoreCommand returns the command restore.
func NewServerRestoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore BACKUP DIR",
		Short: "Restore a backup into a directory",
		Long: console.Paragraphs(`
Copy the backup in the directory BACKUP into DIR, which must be empty or not exist, check
every file against its hash, and open the store and the configuration. Files that the
configuration named outside its own directory go to DIR/outside, and the restored
configuration names them there. If BACKUP is -, a backup that was made so is read from
standard input.

  {"config":"DIR/countersign.yaml","created":"…","missing":["…"],"serveFrom":"…"}

A store that is older than the last request does not know what was answered since, and
would carry out the same requests again while they are live. Unless the old server had
stopped before the backup, do not serve from it before "serveFrom". What a machine
remembers of its logs (log.memory) is neither restored nor overwritten: where it knows
more than the backup, serve refuses requests until 'countersign log accept'.`),
		Example: "  countersign restore /mnt/backup/2026-11-22 restored",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != console.StandardInput {
				return restore(cmd, args[0], args[1])
			}
			return withTemporary(func(dir string) error {
				if err := unpack(cmd.InOrStdin(), dir); err != nil {
					return fmt.Errorf("standard input: %w: expected the output of 'countersign backup -'", err)
				}
				return restore(cmd, dir, args[1])
			})
		},
	}
}

// unpack writes the files of an archive to a directory, and nothing outside it.
func unpack(from io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
		case header.Typeflag == tar.TypeDir:
			err = root.Mkdir(header.Name, 0o700)
		case header.Typeflag != tar.TypeReg || isSparse(header):
			err = fmt.Errorf("%.100q is neither a directory nor a file with all of its bytes", header.Name)
		default:
			err = unpackFile(root, header.Name, archive)
		}
		if err != nil {
			return err
		}
	}
}

// isSparse reports whether an entry stands for more bytes than the archive has.
func isSparse(header *tar.Header) bool {
	for name := range header.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func unpackFile(root *os.Root, name string, from io.Reader) error {
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

func restore(cmd *cobra.Command, from, into string) error {
	_, missing := os.Lstat(into)
	existed := !errors.Is(missing, fs.ErrNotExist)
	manifest, path, err := backup.Restore(from, into)
	if err != nil {
		return err
	}
	configured, err := config.Read(path)
	if err != nil {
		return err
	}
	if _, err := deployment.Public(cmd.Context(), configured); err != nil {
		return err
	}
	if err := checkStore(configured); err != nil {
		err = fmt.Errorf("store: %w", err)
		if errors.Is(err, store.ErrNone) {
			err = errors.Join(fmt.Errorf("%w: this backup has none, and what is restored from it would have "+
				"forgotten limits, used codes, live requests, approvals and the log: take another backup, or "+
				"create a new deployment with 'countersign init' and import the keys", err), takeBack(into, existed))
		}
		return err
	}
	// Until then, requests that the old server may have accepted are live.
	serveFrom := time.Now().Add(countersign.DefaultMaxRequestAge + countersign.DefaultMaxRequestSkew)
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		Config    string    `json:"config"`
		Created   time.Time `json:"created"`
		Missing   []string  `json:"missing"`
		ServeFrom time.Time `json:"serveFrom"`
	}{path, manifest.Created, manifest.Missing, serveFrom.UTC().Truncate(time.Second)})
}

// takeBack removes what was restored into a directory, which was empty or did not exist.
func takeBack(into string, existed bool) error {
	if !existed {
		return os.RemoveAll(into)
	}
	entries, err := os.ReadDir(into)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(into, entry.Name())))
	}
	return err
}

func checkStore(configured *config.Config) error {
	path, ok := strings.CutPrefix(configured.Store, "bolt:")
	if !ok {
		return nil
	}
	opened, err := bolt.OpenExisting(path)
	if err != nil {
		return err
	}
	return opened.Close()
}
