package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

type policyReplay struct {
	at     deployment.KeystoreFlags
	since  string
	output console.OutputFlag
	all    bool
	strict bool
}

func newPolicyReplayCommand() *cobra.Command {
	var c policyReplay
	command := &cobra.Command{
		Use:   "replay [FILE]",
		Short: "Show what recorded activities would get from a policy",
		Long: console.Paragraphs(`
Ask a policy about every recorded activity of the organization, oldest first, and print
those that it decides differently: allowed → denied, denied → allowed, more or fewer
votes, other limits. FILE is the policy to try; by default it is the configured one.
Its limits are empty at --since and count what it allows, at the times of the
activities; earlier activities count nothing. A refused request was never recorded, so
only activities that were rejected, failed, or are waiting can become allowed.

Transactions are re-read with today's keys, users and descriptors, so the keystore is
opened. Nothing is signed, charged or recorded. A bolt store must not be in use by
serve: stop it, or replay over a copy made by 'countersign backup'.

The output is a table on a terminal, otherwise, or with --output json, one line of JSON
each:

  {"id","at","user","type","before","after","changes":[…],"rules","refusal","votes","charges"}

The totals go to standard error. The exit status is 0, or with --strict 1 if anything
would be decided differently.`),
		Example: console.Paragraphs(`
  countersign policy replay new-policy.yaml --config countersign.yaml --since 30d`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	c.at.Register(command)
	console.Require(command, "config", "the configuration of the server")
	flags := command.Flags()
	flags.StringVar(&c.since, "since", "",
		"only activities of the last `TIME`, such as 24h or 7d, or since a time such as 2026-11-23T09:00:00Z")
	c.output.RegisterListing(command)
	flags.BoolVar(&c.all, "all", false, "also print activities for which nothing changes")
	flags.BoolVar(&c.strict, "strict", false, "fail if anything would be decided differently")
	return command
}

func (c *policyReplay) run(cmd *cobra.Command, path string) error {
	since, err := console.ParseSince(c.since, time.Now())
	if err != nil {
		return err
	}
	if err := c.at.Resolve(); err != nil {
		return err
	}
	if c.at.Configured.Store == config.MemoryStore {
		return errors.New("store: memory exists only inside serve: there is nothing to replay")
	}
	knowledge, err := deployment.ReadKnowledge(c.at.Configured)
	if err != nil {
		return err
	}
	var file *policy.File
	var policyErr error
	engine, records, err := deployment.OpenEngine(cmd, &c.at, func(settings *countersign.Config) {
		settings.Descriptors = knowledge.Reader()
		file, policyErr = c.file(cmd.Context(), path, settings.Keystore)
	})
	if err != nil {
		return err
	}
	if policyErr != nil {
		return errors.Join(policyErr, engine.Close())
	}
	out := console.NewListing(cmd.OutOrStdout(), c.output.IsText(), []string{"ID", "AT", "USER", "BEFORE", "AFTER", "CHANGES",
		"BECAUSE"}, replayCells)
	return errors.Join(c.replay(cmd, engine, records, file, since, out), engine.Close())
}

func (c *policyReplay) file(ctx context.Context, path string, keys keystore.Keystore) (*policy.File, error) {
	configured, err := c.at.Configured.Organization(c.at.Organization)
	if err != nil {
		return nil, console.Usagef("%v", err)
	}
	organization := *configured
	organization.Policy = cmp.Or(path, organization.Policy)
	if organization.Policy == "" {
		return nil, console.Usagef("organization %s has no policy: name the file to try", organization.ID)
	}
	return deployment.LoadPolicy(ctx, &organization, keys, nil)
}

func (c *policyReplay) replay(cmd *cobra.Command, engine *countersign.Engine, records store.Full, file *policy.File,
	since time.Time, out *console.Listing[*policy.Replayed]) (err error) {
	ctx := cmd.Context()
	order, err := decidedSince(ctx, records, c.at.Organization, since)
	if err != nil {
		return err
	}
	replay := file.NewReplay()
	defer func() { err = errors.Join(err, replay.Close()) }()
	tally := map[string]int{}
	changed := 0
	for _, earlier := range order {
		recorded, err := records.Get(ctx, c.at.Organization, earlier.id)
		if err != nil {
			return err
		}
		record, err := activity.DecodeRecord(recorded.Data)
		if err != nil {
			return err
		}
		authorization, problem := engine.Operator().AskedAbout(ctx, record)
		result, err := replay.Next(ctx, record, authorization, problem)
		if err != nil {
			return err
		}
		tally[result.Before+" → "+result.After]++
		if len(result.Changes) > 0 {
			changed++
		}
		if len(result.Changes) == 0 && !c.all {
			continue
		}
		if err := out.Print(result); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d activities, %d would be decided differently\n", len(order), changed)
	for _, outcome := range slices.Sorted(maps.Keys(tally)) {
		fmt.Fprintf(cmd.ErrOrStderr(), "  %s: %d\n", outcome, tally[outcome])
	}
	if c.strict && changed > 0 {
		return fmt.Errorf("%d activities would be decided differently", changed)
	}
	return nil
}

type decided struct {
	id string
	at time.Time
}

// decidedSince returns the activities in the order in which they were decided, without halts, on
// which no policy decides.
func decidedSince(ctx context.Context, records store.Full, organization string, since time.Time) ([]decided, error) {
	var order []decided
	for filter := (store.Filter{Limit: store.MaxList}); ; {
		page, err := records.List(ctx, organization, filter)
		if err != nil {
			return nil, err
		}
		for i := range page {
			record, err := activity.DecodeRecord(page[i].Data)
			if err != nil {
				return nil, fmt.Errorf("activity %s: %w", page[i].ID, err)
			}
			if !record.Request.Type.Halts() && !record.CreatedAt.Before(since) {
				order = append(order, decided{record.ID, record.DecidedAt()})
			}
		}
		if len(page) == 0 {
			break
		}
		filter.Before = page[len(page)-1].ID
	}
	slices.SortFunc(order, func(a, b decided) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.id, b.id))
	})
	return order, nil
}

func replayCells(result *policy.Replayed) []string {
	because := cmp.Or(result.Refusal, strings.Join(result.Rules, ", "))
	return []string{result.ID, result.At.UTC().Format(time.DateTime), result.User,
		result.Before, result.After, strings.Join(result.Changes, "; "), because}
}
