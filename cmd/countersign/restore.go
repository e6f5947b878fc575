package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/backup"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/store/bolt"
)

func newServerRestoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore BACKUP DIR",
		Short: "Restore a backup into a directory",
		Long: paragraphs(`
Copy the backup in the directory BACKUP into DIR, which must be empty or not there,
check every file against its hash, and open the store and the configuration. What
the configuration named elsewhere is in DIR/outside, and the restored configuration
names it there.

  {"config":"DIR/countersign.yaml","created":"…","missing":["…"],"serveFrom":"…"}

A store that is older than the last request does not know what was answered since:
the same requests would be carried out again while they are live. Do not serve
from it before "serveFrom" unless the old server had stopped before the backup.`),
		Example: "  countersign restore /mnt/backup/2026-11-22 restored",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return restore(cmd, args[0], args[1])
		},
	}
}

func restore(cmd *cobra.Command, from, into string) error {
	manifest, path, err := backup.Restore(from, into)
	if err != nil {
		return err
	}
	configured, err := config.Read(path)
	if err != nil {
		return err
	}
	if _, err := newSnapshot(configured); err != nil {
		return err
	}
	if err := checkStore(configured); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	// Requests of up to the newest that the old server can have taken are live
	// until then.
	serveFrom := time.Now().Add(countersign.DefaultMaxRequestAge + countersign.DefaultMaxRequestSkew)
	return printJSON(cmd.OutOrStdout(), struct {
		Config    string    `json:"config"`
		Created   time.Time `json:"created"`
		Missing   []string  `json:"missing"`
		ServeFrom time.Time `json:"serveFrom"`
	}{path, manifest.Created, manifest.Missing, serveFrom.UTC().Truncate(time.Second)})
}

// checkStore opens a store that is a file.
func checkStore(configured *config.Config) error {
	path, ok := strings.CutPrefix(configured.Store, "bolt:")
	if !ok {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil //nolint:nilerr // there was none yet
	}
	opened, err := bolt.Open(path)
	if err != nil {
		return err
	}
	return opened.Close()
}
