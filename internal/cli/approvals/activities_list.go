package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

type activitiesList struct {
	from     activitiesFlags
	statuses []string
	since    string
	user     string
	limit    int
	output   console.OutputFlag

	signedOnly bool // of those that are completed
}

// statusWords are the values of --status. A signed activity is a completed one that signs.
var statusWords = map[string]activity.Status{
	"waiting": activity.StatusConsensusNeeded, "signed": activity.StatusCompleted, "completed": activity.StatusCompleted,
	"rejected": activity.StatusRejected, "failed": activity.StatusFailed,
}

func newActivitiesListCommand() *cobra.Command {
	var c activitiesList
	command := &cobra.Command{
		Use:   "list",
		Short: "List activities, newest first",
		Long: console.Paragraphs(`
List activities, newest first: as a table on a terminal, otherwise as one line of JSON
each, or as CSV.

  {"id","fingerprint","state","status","type","user","approvers":[…],"createdAt","keyIds":[…],
   "addresses":[…],"rules":[…],"does":[…],"canApprove","missing",
   "effects":[{"sentence","kind","amount","bound","symbol","asset","to"}]}

"state" is waiting, signed, rejected, failed, or completed for an activity that signs nothing;
"user" submitted it. "does" says what was signed, or would be; "effects" has the amounts of
what was signed. Only waiting activities have "missing", the number of votes they still need.
With --config there is no user who asks, so "canApprove" is false and "missing" absent.

CSV has one row for each effect, so that amounts can be added up by token. A request that
only waits is none of those that --status signed lists. What was refused is no activity: it
is in the log of serve.`),
		Example: console.Paragraphs(`
  countersign activities list --url http://127.0.0.1:8080 --api-key ann.json --status waiting
  countersign activities list --config countersign.yaml --since 7d --status signed --output csv`),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.from.register(command)
	flags := command.Flags()
	flags.StringSliceVar(&c.statuses, "status", nil,
		"only activities with this `STATUS`: waiting, signed, completed (signed and others), rejected, failed; can be repeated")
	flags.StringVar(&c.since, "since", "",
		"only activities of the last `TIME`, such as 24h or 7d, or since a time such as 2026-11-23T09:00:00Z")
	flags.StringVar(&c.user, "user", "", "only activities submitted by the user with this `NAME` or id")
	flags.IntVar(&c.limit, "limit", 1000, "list at most this `NUMBER` of activities")
	c.output.RegisterListing(command, console.OutputCSV)
	return command
}

func (c *activitiesList) run(cmd *cobra.Command) (err error) {
	options := api.ListOptions{Limit: activity.MaxPage}
	for _, word := range c.statuses {
		status, ok := statusWords[word]
		if !ok {
			return console.Usagef("--status %q: use waiting, signed, completed, rejected or failed", word)
		}
		options.Statuses = append(options.Statuses, status)
		c.signedOnly = c.signedOnly || word == "signed"
	}
	c.signedOnly = c.signedOnly && !slices.Contains(c.statuses, "completed")
	since, err := console.ParseSince(c.since, time.Now())
	if err != nil {
		return err
	}
	if c.limit < 1 {
		return console.Usagef("--limit %d: at least 1 is required", c.limit)
	}
	source, closing, err := c.from.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	print, flush := c.printer(cmd, c.output.IsText())
	more, err := c.each(cmd.Context(), source, options, since, print)
	if err != nil {
		return err
	}
	if more {
		fmt.Fprintf(cmd.ErrOrStderr(), "There are more than these %d: pass a greater --limit.\n", c.limit)
	}
	return flush()
}

func (c *activitiesList) printer(cmd *cobra.Command, asTable bool) (print func(ActivityLine) error, flush func() error) {
	if c.output.IsCSV() {
		out := console.NewCSV(cmd.OutOrStdout(), csvHeader)
		return func(line ActivityLine) error {
			for _, row := range line.rows() {
				if err := out.Row(row); err != nil {
					return err
				}
			}
			return nil
		}, out.Flush
	}
	out := console.NewListing(cmd.OutOrStdout(), asTable, []string{"ID", "STATE", "USER", "APPROVED BY", "CREATED",
		"KEY", "MISSING", "DOES"}, ActivityLine.cells)
	return out.Print, out.Flush
}

// each calls use with every activity that matches the flags. It reports whether there are
// more of them than --limit.
func (c *activitiesList) each(ctx context.Context, source activitySource, options api.ListOptions, since time.Time,
	use func(ActivityLine) error) (more bool, err error) {
	for left := c.limit; ; {
		page, err := source.ListActivities(ctx, options)
		if err != nil || len(page) == 0 {
			return false, deployment.WithReason(err)
		}
		options.Before = page[len(page)-1].ID
		for _, activity := range page {
			switch {
			case activity.CreatedAt.Time().Before(since):
				return false, nil // ids, and therefore pages, are in order of time
			case !c.matches(activity):
				continue
			case left == 0:
				return true, nil
			}
			left--
			if err := use(lineOf(activity)); err != nil {
				return false, err
			}
		}
	}
}

func (c *activitiesList) matches(listed *api.Activity) bool {
	votes := listed.Votes
	if c.user != "" && (len(votes) == 0 || c.user != votes[0].UserID && c.user != votes[0].UserName) {
		return false
	}
	return !c.signedOnly || listed.Status != activity.StatusCompleted || listed.Type.Signs()
}

// ActivityLine is an activity as activities list prints it.
type ActivityLine struct {
	ID          string               `json:"id"`
	Fingerprint string               `json:"fingerprint"`
	State       string               `json:"state"`
	Status      activity.Status      `json:"status"`
	Type        activity.Type        `json:"type"`
	User        string               `json:"user"`
	Approvers   []string             `json:"approvers,omitempty"`
	CreatedAt   time.Time            `json:"createdAt"`
	CanApprove  bool                 `json:"canApprove"`
	KeyIDs      []string             `json:"keyIds,omitempty"`
	Addresses   []string             `json:"addresses,omitempty"` // of the keys; of what waits, those that pay
	Rules       []string             `json:"rules,omitempty"`
	Does        []string             `json:"does,omitempty"`
	Effects     []activity.DidEffect `json:"effects,omitempty"`
	Missing     *int                 `json:"missing,omitempty"`
}

func lineOf(listed *api.Activity) ActivityLine {
	line := ActivityLine{
		ID: listed.ID, Fingerprint: listed.Fingerprint, State: activity.StateOf(listed.Status, listed.Type),
		Status: listed.Status, Type: listed.Type,
		CreatedAt: listed.CreatedAt.Time(), CanApprove: listed.CanApprove, Does: listed.Did.Sentences(),
	}
	for i, vote := range listed.Votes {
		switch {
		case i == 0:
			line.User = vote.UserName
		case vote.Selection == activity.SelectionApproved:
			line.Approvers = append(line.Approvers, vote.UserName)
		}
	}
	if did := listed.Did; did != nil {
		line.KeyIDs, line.Addresses, line.Rules, line.Effects = did.KeyIDs, did.Addresses, did.Rules, did.Effects
	}
	if listed.Review != nil {
		line.review(listed.Review)
	}
	return line
}

// review adds what would be signed.
func (l *ActivityLine) review(review *activity.Review) {
	l.Does, l.Rules, l.KeyIDs = review.Sentences, review.Rules, review.KeyIDs
	var effects []struct{ From string }
	if json.Unmarshal([]byte(review.Effects), &effects) == nil {
		for _, effect := range effects {
			if !slices.Contains(append(l.Addresses, "", "signer", "unknown"), effect.From) {
				l.Addresses = append(l.Addresses, effect.From)
			}
		}
	}
	if review.Missing != nil {
		l.Missing = new(int)
	}
	for _, group := range review.Missing {
		*l.Missing += group.Missing
	}
}

func (l ActivityLine) details() []console.Detail {
	details := []console.Detail{
		{"id", l.ID}, {"fingerprint", l.Fingerprint}, {"state", l.State}, {"type", string(l.Type)},
		{"user", l.User}, {"approved by", strings.Join(l.Approvers, ", ")}, {"created", l.CreatedAt.Format(time.RFC3339)},
		{"key", strings.Join(l.keys(), ", ")}, {"rules", strings.Join(l.Rules, ", ")},
	}
	for _, sentence := range l.Does {
		details = append(details, console.Detail{"does", sentence})
	}
	return details
}

// keys returns the addresses of the keys, or their ids.
func (l ActivityLine) keys() []string {
	if len(l.Addresses) > 0 {
		return l.Addresses
	}
	return l.KeyIDs
}

// what returns what the activity does, or its type if it does not say.
func (l ActivityLine) what() string {
	if len(l.Does) > 0 {
		return strings.Join(l.Does, "; ")
	}
	return strings.ToLower(strings.TrimPrefix(string(l.Type), "ACTIVITY_TYPE_"))
}

func (l ActivityLine) cells() []string {
	missing := ""
	if l.Missing != nil {
		missing = fmt.Sprint(*l.Missing)
	}
	return []string{l.ID, l.State, l.User, strings.Join(l.Approvers, ", "), l.CreatedAt.Format(time.DateTime),
		strings.Join(l.keys(), ", "), missing, l.what()}
}

var csvHeader = []string{"created", "id", "state", "user", "approvers", "key", "rules", "does", "kind", "amount",
	"bound", "symbol", "asset", "to", "change"}

// rows returns the line as rows of CSV, one for each effect.
func (l ActivityLine) rows() [][]string {
	begin := func(does string) []string {
		return []string{l.CreatedAt.Format(time.RFC3339), l.ID, l.State, l.User, strings.Join(l.Approvers, " "),
			strings.Join(l.keys(), " "), strings.Join(l.Rules, " "), does}
	}
	if len(l.Effects) == 0 {
		return [][]string{append(begin(l.what()), "", "", "", "", "", "", "")}
	}
	var rows [][]string
	for _, effect := range l.Effects {
		rows = append(rows, append(begin(effect.Sentence), effect.Kind, effect.Amount, effect.Bound, effect.Symbol,
			effect.Asset, effect.To, map[bool]string{true: "yes"}[effect.Change]))
	}
	return rows
}
