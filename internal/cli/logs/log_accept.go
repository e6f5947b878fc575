package logs

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/store"
)

type logAccept struct {
	logFlags
	confirm    string
	memory     string // path
	none       bool   // there is no store
	configured *config.Config
}

func newLogAcceptCommand() *cobra.Command {
	var c logAccept
	command := &cobra.Command{
		Use:   "accept",
		Short: "Go on with a store that lacks what was answered before",
		Long: console.Paragraphs(`
When the log in the store does not extend what this machine has seen, because a backup
was put back, the store was emptied, or a replica took over that was behind, serve
refuses the requests of that organization. log accept shows what can be known: which log
was seen and when, and which was found. It cannot show which limits, codes, approvals
and answers were lost, because only the lost leaves knew.

If the store that had them can still be put back, do that instead. Otherwise repeat the
command with --confirm and the value it has printed: this confirms exactly this conflict,
also while serve runs. The acceptance is a leaf of the log. From then on a request that
is not recorded and was made before the acceptance, or within five minutes after it, is
refused as stale: it may have been answered before. Activities that wait for approvals
end as failed.`),
		Example: console.Paragraphs(`
  countersign log accept --config countersign.yaml
  countersign log accept --config countersign.yaml --confirm 52fdfc072182654f`),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.register(command)
	console.Require(command, "config", "the configuration of the server")
	command.Flags().StringVar(&c.confirm, "confirm", "", "`CONFLICT` to accept, as this command printed it")
	return command
}

// ConflictLine is what log accept prints of a conflict.
type ConflictLine struct {
	Organization string     `json:"organizationId"`
	Remembered   seenLine   `json:"remembered"`
	Found        seenLine   `json:"found"`
	Missing      string     `json:"missing"`
	Confirm      string     `json:"confirm"`            // identifies the conflict
	Accepted     bool       `json:"accepted,omitempty"` // by this call
	Until        *time.Time `json:"staleUntil,omitempty"`
}

type seenLine struct {
	Leaves int64  `json:"leaves"`
	Root   string `json:"root"`
	At     string `json:"at,omitempty"`
}

func (c *logAccept) run(cmd *cobra.Command) (err error) {
	if c.configured, err = config.Read(c.configFile); err != nil {
		return err
	}
	if c.memory = c.configured.LogMemory(); c.memory == "" {
		return errors.New("log accept: this configuration keeps no log, so there is nothing to compare with")
	}
	opened, err := c.open(cmd)
	if err != nil {
		return err
	}
	if opened != nil {
		defer func() { err = errors.Join(err, opened.Close()) }()
	}
	organization, conflict, err := c.conflict(opened)
	if err != nil {
		return err
	}
	line := ConflictLine{
		Organization: organization,
		Remembered:   seen(conflict.Remembered, conflict.Seen),
		Found:        seen(conflict.Log, conflict.Found),
		Missing:      conflict.Missing(conflict.Log.N),
		Confirm:      logmemory.Digest(organization, conflict),
	}
	switch c.confirm {
	case "":
		fmt.Fprintln(cmd.ErrOrStderr(), notKnown)
		return console.PrintJSON(cmd.OutOrStdout(), line)
	case line.Confirm:
	default:
		return c.changed(organization, conflict)
	}
	if err := logmemory.Confirm(c.memory, organization, conflict); err != nil {
		return fmt.Errorf("log.memory: %w", err)
	}
	line.Accepted = true
	if line.Until, err = c.takenUp(cmd, opened, organization); err != nil {
		return err
	}
	return console.PrintJSON(cmd.OutOrStdout(), line)
}

const notKnown = "Which limits, codes, approvals and answers were lost cannot be known: only the missing leaves had them.\n" +
	"To go on without them, repeat this command with --confirm. To have them back, put back the store that had them."

// open opens the store with its memory, which finds a conflict that serve has not seen yet.
// It returns nil if serve has the store open, or if there is none.
func (c *logAccept) open(cmd *cobra.Command) (*deployment.RememberedStore, error) {
	logger := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError + 1}))
	opened, err := deployment.OpenRemembered(cmd.Context(), c.configured, false, 0, logger)
	c.none = errors.Is(err, store.ErrNone)
	if c.none || errors.Is(err, store.ErrInUse) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	remembered, ok := opened.(*deployment.RememberedStore)
	if !ok {
		return nil, errors.Join(errors.New("log accept: this store keeps no log"), opened.Close())
	}
	return remembered, nil
}

// conflict returns the conflict of the organization of --org, or the only one there is.
func (c *logAccept) conflict(opened *deployment.RememberedStore) (organization string, conflict *logmemory.Conflict, err error) {
	if opened != nil {
		if err := opened.Memory.Write(); err != nil { // what serve would have written
			return "", nil, fmt.Errorf("log.memory: %w", err)
		}
	}
	remembered, err := logmemory.Read(c.memory)
	if err != nil {
		return "", nil, err
	}
	conflicts := map[string]*logmemory.Conflict{}
	for id, state := range remembered {
		switch {
		case c.none && state.Tree.N > 0:
			conflicts[id] = logmemory.Lost(state)
		case !c.none && state.Conflict != nil:
			conflicts[id] = state.Conflict
		}
	}
	if c.organization != "" {
		if conflict := conflicts[c.organization]; conflict != nil {
			return c.organization, conflict, nil
		}
		return "", nil, fmt.Errorf("log accept: the log of organization %s has no conflict", c.organization)
	}
	switch len(conflicts) {
	case 0:
		return "", nil, errors.New("log accept: there is no conflict: the logs in the store extend what this machine has seen")
	case 1:
		for organization, conflict = range conflicts {
			return organization, conflict, nil
		}
	}
	return "", nil, console.Usagef("the logs of %d organizations have a conflict: pass --org with one of %q",
		len(conflicts), slices.Sorted(maps.Keys(conflicts)))
}

func seen(tree tlog.Tree, at time.Time) seenLine {
	line := seenLine{Leaves: tree.N, Root: base64.StdEncoding.EncodeToString(tree.Hash[:])}
	if !at.IsZero() {
		line.At = at.UTC().Format(time.RFC3339)
	}
	return line
}

// acceptAttempts bounds how often a confirmation is tried while other nodes change the log.
const acceptAttempts = 5

// takenUp waits until the confirmation is taken up: by this process if it has the store
// open, otherwise by serve. It returns until when requests are stale, nil if that is not
// known: without a store the confirmation waits for serve --new-store.
func (c *logAccept) takenUp(cmd *cobra.Command, opened *deployment.RememberedStore, organization string) (*time.Time, error) {
	switch {
	case c.none:
		fmt.Fprintln(cmd.ErrOrStderr(), "The loss is confirmed: create the new store with 'countersign serve --new-store'.")
		return nil, nil
	case opened == nil:
		return nil, c.takenUpByServe(cmd.Context(), organization)
	}
	for range acceptAttempts {
		if err := opened.Memory.Check(cmd.Context()); err != nil {
			return nil, err
		}
		if conflict := opened.Memory.Conflict(organization); conflict == nil {
			break
		} else if logmemory.Digest(organization, conflict) != c.confirm {
			return nil, c.changed(organization, conflict)
		}
	}
	head, err := opened.LogHead(cmd.Context(), organization)
	if err != nil {
		return nil, err
	}
	if head.Conflict != nil {
		return nil, errors.New("log accept: other nodes keep changing the log: try again")
	}
	return &head.Accepted, nil
}

func (c *logAccept) changed(organization string, conflict *logmemory.Conflict) error {
	return fmt.Errorf("--confirm %s: the conflict of organization %s is now %s: %s", c.confirm, organization,
		logmemory.Digest(organization, conflict), conflict.Describe())
}

// How long log accept waits for serve, which looks for confirmations every logmemory.WriteInterval.
const (
	acceptTimeout = time.Minute
	acceptPoll    = 50 * time.Millisecond
)

// takenUpByServe waits until serve, which has the store open, has accepted the conflict.
func (c *logAccept) takenUpByServe(ctx context.Context, organization string) error {
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	for {
		remembered, err := logmemory.Read(c.memory)
		if err != nil {
			return err
		}
		conflict := remembered[organization].Conflict
		switch {
		case conflict == nil:
			return nil
		case logmemory.Digest(organization, conflict) != c.confirm:
			return c.changed(organization, conflict)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("log accept: the process that has the store open has not taken the confirmation up "+
				"within %v: it will when serve runs with log.memory %s", acceptTimeout, c.memory)
		case <-time.After(acceptPoll):
		}
	}
}
