// Package logs is the commands about transparency logs: log, verify and witness.
package logs

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// NewCommand returns the command log.
func NewCommand() *cobra.Command {
	return console.Group("log", "Verify the log, and prove what is in it", `
Each activity that ended is a leaf of its organization's log, a Merkle tree: see
docs/log.md. These commands, except accept, read the configured store. A bolt store must
not be in use by serve: for a running server, pass --url to checkpoint and prove, and run
verify on a backup. Keep checkpoints on another machine: without one, it goes unnoticed if
the newest leaves are cut off.`,
		newLogVerifyCommand(), newLogProveCommand(), newLogCheckpointCommand(), newLogKeyCommand(),
		newLogCheckCommand(), newLogAcceptCommand())
}

// logFlags name a log: in the store of a configuration, or of a running server.
type logFlags struct{ configFile, organization, url string }

func (f *logFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.configFile, "config", "", "`FILE` whose store has the log: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, if the configuration has several")
}

// registerServed is register for commands that can also ask a running server.
func (f *logFlags) registerServed(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().StringVar(&f.url, "url", "", "admin `URL` of a running server to ask instead of reading the store; needs --org")
	console.Exclusive(cmd, "one reads the store, the other asks a server: use one of them", "config", "url")
}

// ask prints what the admin address of a server answers at a path below the log's.
func (f *logFlags) ask(cmd *cobra.Command, path string) error {
	if f.organization == "" {
		return console.Usagef("--org is missing: the id of the organization that the log belongs to")
	}
	note, err := fetchNote(cmd.Context(), f.url, "/log/"+url.PathEscape(f.organization)+path)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(note)
	return err
}

// OpenedLog is the log of one organization.
type OpenedLog struct {
	store.Full
	signer       *translog.Signer // nil if no key is configured
	Organization string
}

// read reads the configuration and the key. It does not open the store.
func (f *logFlags) read(ctx context.Context) (*config.Config, *OpenedLog, error) {
	if f.configFile == "" {
		return nil, nil,
			console.Usagef("--config is missing: the configuration of the server; for a running one, log " +
				"checkpoint and log prove take --url instead")
	}
	configured, organization, err := deployment.ReadConfig(f.configFile, f.organization)
	if err != nil {
		return nil, nil, err
	}
	opened := &OpenedLog{Organization: organization.ID}
	if opened.signer, err = deployment.OpenLogKey(ctx, configured.Log.KeyFile); err != nil {
		return nil, nil, fmt.Errorf("log: keyFile: %w", err)
	}
	return configured, opened, nil
}

// withLog opens the log, calls use with it, and closes it.
func (f *logFlags) withLog(ctx context.Context, use func(*OpenedLog) error) (err error) {
	configured, opened, err := f.read(ctx)
	if err != nil {
		return err
	}
	if opened.Full, err = deployment.OpenStore(ctx, configured); err != nil {
		return deployment.IfInUse(err, "log checkpoint and log prove can ask the server with --url, log verify can read a backup")
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if opened.Forgets() {
		return errors.New("log: this store keeps no log: use bolt:PATH or postgres://…")
	}
	return use(opened)
}

func (o *OpenedLog) key() (string, error) {
	if o.signer == nil {
		return "", errors.New("log: keyFile is not configured: create one with 'openssl genpkey -algorithm ED25519'")
	}
	return o.signer.VerifierKey(o.Organization), nil
}

func newLogVerifyCommand() *cobra.Command {
	var flags logFlags
	var c LogVerify
	command := &cobra.Command{
		Use:   "verify",
		Short: "Rehash every record, and compare the log with a checkpoint",
		Long: console.Paragraphs(`
Rehash every record in the store and every leaf of the log. A record without a leaf was
added behind the server's back, or recorded while the log was off; --unlogged says how
many of the latter there are.

With --checkpoint, a file that log checkpoint, log prove or a witness wrote earlier, the
log must extend that checkpoint. This also detects leaves cut off from the end, a
restored backup, and a rewritten log. The message says what was changed; the exit
status is then 1.`),
		Example: "  countersign log verify --config countersign.yaml --checkpoint kept/checkpoint",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withLog(cmd.Context(), func(opened *OpenedLog) error {
				c.OpenedLog = opened
				return c.Run(cmd)
			})
		},
	}
	flags.register(command)
	command.Flags().StringVar(&c.checkpointFile, "checkpoint", "", "`FILE` with a checkpoint that was kept elsewhere")
	command.Flags().IntVar(&c.unlogged, "unlogged", 0, "exact `NUMBER` of records without a leaf, because the log was off")
	return command
}

func newLogProveCommand() *cobra.Command {
	var flags logFlags
	command := &cobra.Command{
		Use:   "prove ID",
		Short: "Prove that an activity is in the log",
		Long: console.Paragraphs(`
Print a proof (C2SP tlog-proof) that the activity with this id is in the log. With the
log's key, which log key prints, anyone can verify it on any machine, by log check or a
program.`),
		Example: console.Paragraphs(`
  countersign log prove --config countersign.yaml 0199… > activity.proof
  countersign log prove --url http://127.0.0.1:8081 --org 2359… 0199… > activity.proof`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.url != "" {
				return flags.ask(cmd, "/proof/"+url.PathEscape(args[0]))
			}
			return flags.withLog(cmd.Context(), func(opened *OpenedLog) error {
				if _, err := opened.key(); err != nil {
					return err
				}
				proof, err := store.Prove(cmd.Context(), opened, opened.signer, opened.Organization, args[0])
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("log: organization %s has no leaf with the id %q", opened.Organization, args[0])
				}
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(proof.Encode())
				return err
			})
		},
	}
	flags.registerServed(command)
	return command
}

func newLogCheckpointCommand() *cobra.Command {
	var flags logFlags
	old := int64(-1)
	command := &cobra.Command{
		Use:   "checkpoint",
		Short: "Sign the current state of the log",
		Long: console.Paragraphs(`
Print the signed size and root of the log, to be kept on another machine. With --old it
prints what a witness takes: the checkpoint, and a proof that the log extends its first
SIZE leaves.`),
		Example: "  countersign log checkpoint --config countersign.yaml --old 0 > advance",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.url != "" {
				path := "/checkpoint"
				if old >= 0 {
					path += fmt.Sprintf("?old=%d", old)
				}
				return flags.ask(cmd, path)
			}
			return flags.withLog(cmd.Context(), func(opened *OpenedLog) error {
				if _, err := opened.key(); err != nil {
					return err
				}
				advance, err := store.Advance(cmd.Context(), opened, opened.signer, opened.Organization, max(old, 0))
				if err != nil {
					return err
				}
				out := advance.Checkpoint
				if old >= 0 {
					out = advance.Encode()
				}
				_, err = cmd.OutOrStdout().Write(out)
				return err
			})
		},
	}
	flags.registerServed(command)
	command.Flags().Int64Var(&old, "old", old, "`SIZE` of the log that the witness has seen, 0 for the first time")
	return command
}

func newLogCheckCommand() *cobra.Command {
	var key string
	command := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Verify a proof; no store is needed",
		Long: console.Paragraphs(`
Verify a proof that log prove printed, from FILE or standard input, against the log's
key, and print which record it proves.`),
		Example: "  countersign log check --log-key countersign/6e1f…+1234abcd+AQ… activity.proof",
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := deployment.ReadLogKey(key)
			if err != nil {
				return err
			}
			proof, err := readNote(cmd, args)
			if err != nil {
				return err
			}
			leaf, err := translog.VerifyProof(proof, key)
			if err != nil {
				return err
			}
			return console.PrintJSON(cmd.OutOrStdout(), struct {
				Organization string `json:"organizationId"`
				ID           string `json:"id"`
				Fingerprint  string `json:"fingerprint"`
				Record       string `json:"recordDigest"`
			}{leaf.Organization, leaf.ID, fmt.Sprintf("sha256:%x", leaf.Fingerprint), fmt.Sprintf("%x", leaf.Record)})
		},
	}
	deployment.RegisterLogKey(command, &key)
	return command
}

func newLogKeyCommand() *cobra.Command {
	var flags logFlags
	command := &cobra.Command{
		Use:   "key",
		Short: "Print the key that verifies the log",
		Long: console.Paragraphs(`
Print the key that verifies checkpoints and proofs of the log, for use on other
machines. The store is not opened.`),
		Example: "  countersign log key --config countersign.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, opened, err := flags.read(cmd.Context())
			if err != nil {
				return err
			}
			key, err := opened.key()
			if err != nil {
				return err
			}
			return console.PrintJSON(cmd.OutOrStdout(), deployment.LogKeyLine{Organization: opened.Organization, Key: key})
		},
	}
	flags.register(command)
	return command
}
