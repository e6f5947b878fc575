package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// policyReplay is one call of policy replay.
type policyReplay struct {
	at     keystoreFlags
	since  string
	output outputFlag
	all    bool
	strict bool
}

func newPolicyReplayCommand() *cobra.Command {
	var c policyReplay
	command := &cobra.Command{
		Use:   "replay [FILE]",
		Short: "Say what recorded activities would get from a policy",
		Long: paragraphs(`
Ask a policy about every recorded activity of the organization, the oldest first, and
print those for which it decides otherwise: allowed → denied, denied → allowed, more or
fewer votes, other limits. FILE is the policy to try; without it, the one of the
configuration. Its limits start empty at --since and count what it allows, by the times
of the activities; activities before --since count nothing. What a policy refused was
never recorded, so that only activities that were rejected or failed, or that wait,
can become allowed.

Transactions are read again with the keys, users and descriptors of today: the keystore
is opened. Nothing is signed, charged or recorded. A store in bolt must not be in use
by serve: stop it, or replay over a copy that 'countersign backup' made.

As a table on a terminal, else, or with --output json, one line of JSON each:

  {"id","at","user","type","before","after","changes":[…],"rules","refusal","votes","charges"}

The sums go to standard error. The exit status is 0, and with --strict 1 if anything
would be decided otherwise.`),
		Example: paragraphs(`
  countersign policy replay new-policy.yaml --config countersign.yaml --since 30d`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	c.at.register(command)
	flags := command.Flags()
	flags.StringVar(&c.since, "since", "", "only activities of the last `TIME`, such as 24h or 7d, or since a time such as 2026-11-23T09:00:00Z")
	c.output.registerListing(command)
	flags.BoolVar(&c.all, "all", false, "print activities for which nothing changes too")
	flags.BoolVar(&c.strict, "strict", false, "take a difference for a failure")
	return command
}

func (c *policyReplay) run(cmd *cobra.Command, path string) error {
	if _, err := c.output.isText(cmd); err != nil {
		return err
	}
	since, err := parseSince(c.since, time.Now())
	if err != nil {
		return err
	}
	if c.at.configFile == "" {
		return usagef("--config is missing: the configuration whose activities are meant")
	}
	if err := c.at.resolve(); err != nil {
		return err
	}
	if c.at.configured.Store == config.MemoryStore {
		return errors.New("store: memory is in the process of serve: there is nothing to replay")
	}
	known, err := readKnowledge(c.at.configured)
	if err != nil {
		return err
	}
	var recorded store.Store
	var file *policy.File
	var wrong error // with the file
	engine, err := openEngine(cmd, &c.at, func(made *countersign.Config) {
		made.Descriptors = known.reader()
		file, wrong = c.file(cmd.Context(), path, made.Keystore)
	}, func(opened store.Store) { recorded = opened })
	if err != nil {
		return err
	}
	if wrong != nil {
		return errors.Join(wrong, engine.Close())
	}
	return errors.Join(c.replay(cmd, engine, recorded, file, since), engine.Close())
}

// file loads the policy to try; its names are checked.
func (c *policyReplay) file(ctx context.Context, path string, keys keystore.Keystore) (*policy.File, error) {
	organizations := c.at.configured.Organizations
	at := slices.IndexFunc(organizations, func(one countersign.OrganizationConfig) bool { return one.ID == c.at.organization })
	organization := organizations[at]
	if path != "" {
		organization.Policy = path
	}
	if organization.Policy == "" {
		return nil, usagef("organization %s has no policy: name the file to try", organization.ID)
	}
	return loadPolicy(ctx, &organization, keys)
}

// replay asks the file about each activity, and prints what it is asked for.
func (c *policyReplay) replay(cmd *cobra.Command, engine *countersign.Engine, recorded store.Store, file *policy.File, since time.Time) (err error) {
	ctx := cmd.Context()
	text, err := c.output.isText(cmd)
	if err != nil {
		return err
	}
	order, err := decidedSince(ctx, recorded, c.at.organization, since)
	if err != nil {
		return err
	}
	past := file.NewReplay()
	defer func() { err = errors.Join(err, past.Close()) }()
	out := printerTo(cmd.OutOrStdout(), text)
	tally := map[string]int{}
	changed := 0
	for _, one := range order {
		record, err := readRecord(ctx, recorded, c.at.organization, one.id)
		if err != nil {
			return err
		}
		asked, problem := engine.AskedAbout(ctx, record)
		seen, err := past.Next(ctx, record, asked, problem)
		if err != nil {
			return err
		}
		tally[seen.Before+" → "+seen.After]++
		if len(seen.Changes) > 0 {
			changed++
		}
		if len(seen.Changes) == 0 && !c.all {
			continue
		}
		if err := out.print(seen); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	return c.sums(cmd.ErrOrStderr(), len(order), changed, tally)
}

// sums writes how many activities there were of each outcome.
func (c *policyReplay) sums(w io.Writer, count, changed int, tally map[string]int) error {
	fmt.Fprintf(w, "%d activities, %d would be decided otherwise\n", count, changed)
	outcomes := make([]string, 0, len(tally))
	for outcome := range tally {
		outcomes = append(outcomes, outcome)
	}
	slices.Sort(outcomes)
	for _, outcome := range outcomes {
		fmt.Fprintf(w, "  %s: %d\n", outcome, tally[outcome])
	}
	if c.strict && changed > 0 {
		return fmt.Errorf("%d activities would be decided otherwise", changed)
	}
	return nil
}

// decided is an activity and when it was decided for the last time.
type decided struct {
	id string
	at time.Time
}

// decidedSince lists activities in the order in which they were decided.
func decidedSince(ctx context.Context, recorded store.Store, organization string, since time.Time) ([]decided, error) {
	var order []decided
	for filter := (store.Filter{Limit: store.MaxList}); ; {
		page, err := recorded.List(ctx, organization, filter)
		if err != nil {
			return nil, err
		}
		for i := range page {
			record, err := activity.DecodeRecord(page[i].Data)
			if err != nil {
				return nil, fmt.Errorf("activity %s: %w", page[i].ID, err)
			}
			if !record.CreatedAt.Before(since) {
				order = append(order, decided{record.ID, countersign.DecidedAt(record)})
			}
		}
		if len(page) == 0 {
			break
		}
		filter.Before = page[len(page)-1].ID
	}
	slices.SortFunc(order, func(a, b decided) int {
		if of := a.at.Compare(b.at); of != 0 {
			return of
		}
		return strings.Compare(a.id, b.id)
	})
	return order, nil
}

func readRecord(ctx context.Context, recorded store.Store, organization, id string) (*activity.Record, error) {
	found, err := recorded.Get(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	return activity.DecodeRecord(found.Data)
}

// printerTo returns where lines go: a table or JSON.
func printerTo(w io.Writer, text bool) replayPrinter {
	if !text {
		return jsonReplay{w}
	}
	table := replayTable{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(table, "ID\tAT\tUSER\tBEFORE\tAFTER\tCHANGES\tBECAUSE")
	return table
}

// replayPrinter prints what differs.
type replayPrinter interface {
	print(*policy.Replayed) error
	flush() error
}

type jsonReplay struct{ w io.Writer }

func (p jsonReplay) print(seen *policy.Replayed) error { return printJSON(p.w, seen) }
func (p jsonReplay) flush() error                      { return nil }

type replayTable struct{ *tabwriter.Writer }

func (t replayTable) print(seen *policy.Replayed) error {
	because := seen.Refusal
	if because == "" {
		because = strings.Join(seen.Rules, ", ")
	}
	_, err := fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(seen.ID), seen.At.UTC().Format(time.DateTime), oneLine(seen.User),
		seen.Before, seen.After, oneLine(strings.Join(seen.Changes, "; ")), oneLine(because))
	return err
}

func (t replayTable) flush() error { return t.Flush() }
