package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

func newLogCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "log",
		Short: "Verify the log, and prove what is in it",
		Long: paragraphs(`
Each completed activity is a leaf of its organization's log, a Merkle tree: see
docs/log.md. These commands read the store of a configuration. One in bolt must not
be in use by serve: checkpoint and prove ask a running server with --url, and verify
reads a backup. Keep checkpoints on another machine: without
one, leaves that were cut off from the end are not missed.`),
		Args: commandOnly,
		RunE: chooseCommand,
	}
	command.AddCommand(newLogVerifyCommand(), newLogProveCommand(), newLogCheckpointCommand(), newLogKeyCommand(), newLogCheckCommand())
	return command
}

// logFlags say which log is meant.
type logFlags struct{ configFile, organization, url string }

func (f *logFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.configFile, "config", "", "`FILE` whose store has the log: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, if the configuration has several")
}

// registerServed is register for what a running server can be asked for, too.
func (f *logFlags) registerServed(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().StringVar(&f.url, "url", "", "`URL` of the admin address of a running server, to ask instead of a store; takes --org")
}

// ask prints what the admin address of a server says of the log at a path.
func (f *logFlags) ask(cmd *cobra.Command, path string) error {
	if f.configFile != "" {
		return usagef("--config reads the store, and --url asks a server: use one of them")
	}
	if f.organization == "" {
		return usagef("--org is missing: the id of the organization whose log is meant")
	}
	note, err := fetchNote(cmd.Context(), strings.TrimRight(f.url, "/")+"/log/"+url.PathEscape(f.organization)+path)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(note)
	return err
}

// openedLog is the log of one organization.
type openedLog struct {
	store.Store
	log          store.Log
	signer       *translog.Signer // nil: no key is configured
	organization string
}

// read reads the configuration and the key.
func (f *logFlags) read(ctx context.Context) (*config.Config, *openedLog, error) {
	if f.configFile == "" {
		return nil, nil, usagef("--config is missing: the configuration whose store has the log; log checkpoint and log prove take --url instead, of a running server")
	}
	configured, err := config.Read(f.configFile)
	if err != nil {
		return nil, nil, err
	}
	opened := &openedLog{}
	if opened.organization, err = configured.Organization(f.organization); err != nil {
		return nil, nil, usagef("%v", err)
	}
	if opened.signer, err = openLogKey(ctx, configured.Log.KeyFile); err != nil {
		return nil, nil, fmt.Errorf("log: keyFile: %w", err)
	}
	return configured, opened, nil
}

// open opens the store too. The caller closes it.
func (f *logFlags) open(ctx context.Context) (*openedLog, error) {
	configured, opened, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	if opened.Store, err = openStore(ctx, configured.Store); err != nil {
		return nil, err
	}
	log, ok := opened.Store.(store.Log)
	if !ok || opened.Forgets() {
		return nil, errors.Join(errors.New("log: the store keeps none: use bolt:PATH or postgres://…"), opened.Close())
	}
	opened.log = log
	return opened, nil
}

// key returns the verifier key of the log.
func (o *openedLog) key() (string, error) {
	if o.signer == nil {
		return "", errors.New("log: keyFile is not configured: openssl genpkey -algorithm ED25519 makes one")
	}
	return o.signer.VerifierKey(o.organization), nil
}

func newLogVerifyCommand() *cobra.Command {
	var flags logFlags
	var c logVerify
	command := &cobra.Command{
		Use:   "verify",
		Short: "Hash every record again, and compare the log with a checkpoint",
		Long: paragraphs(`
Hash every record in the store and every leaf of the log again. A record without a leaf
was added by another hand, or recorded while the log was off; --unlogged says how many
are known to have been. With --checkpoint,
a file that log checkpoint, log prove or a witness wrote earlier, the log must extend
it: then leaves that were cut off, a backup that was restored, and a log that was
rewritten are noticed too. The message says what was changed; the exit status is 1.`),
		Example: "  countersign log verify --config countersign.yaml --checkpoint kept/checkpoint",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			opened, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, opened.Close()) }()
			c.openedLog = opened
			return c.run(cmd)
		},
	}
	flags.register(command)
	command.Flags().StringVar(&c.checkpointFile, "checkpoint", "", "`FILE` with a checkpoint that was kept elsewhere")
	command.Flags().IntVar(&c.unlogged, "unlogged", 0, "`NUMBER` of records that have no leaf, since the log was off")
	return command
}

// printTalk prints to standard error.
func printTalk(cmd *cobra.Command, text string) { _, _ = fmt.Fprint(cmd.ErrOrStderr(), text) }

func newLogProveCommand() *cobra.Command {
	var flags logFlags
	command := &cobra.Command{
		Use:   "prove ID",
		Short: "Prove that an activity is in the log",
		Long: paragraphs(`
Print a proof (C2SP tlog-proof) that the activity of this id is in the log: with the
log's key, which log key prints, log check or a program verifies it on any machine.`),
		Example: paragraphs(`
  countersign log prove --config countersign.yaml 0199… > activity.proof
  countersign log prove --url http://127.0.0.1:8081 --org 2359… 0199… > activity.proof`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if flags.url != "" {
				return flags.ask(cmd, "/proof/"+url.PathEscape(args[0]))
			}
			opened, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, opened.Close()) }()
			if _, err := opened.key(); err != nil {
				return err
			}
			proof, err := store.Prove(cmd.Context(), opened.log, opened.signer, opened.organization, args[0])
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("log: organization %s has no leaf of the id %q", opened.organization, args[0])
			}
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(proof.Encode())
			return err
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
		Short: "Sign the log as it is now",
		Long: paragraphs(`
Print the signed size and root of the log, to be kept on another machine. With --old
it prints what a witness takes: the proof too that the log extends that of so many
leaves.`),
		Example: "  countersign log checkpoint --config countersign.yaml --old 0 | ssh witness countersign witness --state kept --log-key …",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if flags.url != "" {
				path := "/checkpoint"
				if old >= 0 {
					path += fmt.Sprintf("?old=%d", old)
				}
				return flags.ask(cmd, path)
			}
			opened, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, opened.Close()) }()
			if _, err := opened.key(); err != nil {
				return err
			}
			advance, err := store.Advance(cmd.Context(), opened.log, opened.signer, opened.organization, max(old, 0))
			if err != nil {
				return err
			}
			out := advance.Checkpoint
			if old >= 0 {
				out = advance.Encode()
			}
			_, err = cmd.OutOrStdout().Write(out)
			return err
		},
	}
	flags.registerServed(command)
	command.Flags().Int64Var(&old, "old", old, "`SIZE` of the log that the witness has seen; 0 at first")
	return command
}

func newLogCheckCommand() *cobra.Command {
	var key string
	command := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Verify a proof, without a store",
		Long: paragraphs(`
Verify a proof that log prove printed, from FILE or standard input, with the key of
the log alone, and print which record it is of.`),
		Example: "  countersign log check --log-key countersign/6e1f…+1234abcd+AQ… activity.proof",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := readLogKey(key)
			if err != nil {
				return err
			}
			proof, err := readUpTo(cmd, args, maxNote)
			if err != nil {
				return err
			}
			leaf, err := translog.VerifyProof(proof, key)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), struct {
				Organization string `json:"organizationId"`
				ID           string `json:"id"`
				Fingerprint  string `json:"fingerprint"`
				Record       string `json:"recordDigest"`
			}{leaf.Organization, leaf.ID, fmt.Sprintf("sha256:%x", leaf.Fingerprint), fmt.Sprintf("%x", leaf.Record)})
		},
	}
	registerLogKey(command, &key)
	return command
}
