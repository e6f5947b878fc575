package approvals

import (
	"context"
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

// activitiesList holds the flags of one call of activities list.
type activitiesList struct {
	from     activitiesFlags
	statuses []string
	since    string
	user     string
	limit    int
	output   console.OutputFlag
}

// statusWords are the values of --status.
var statusWords = map[string]activity.Status{
	"waiting": activity.StatusConsensusNeeded, "completed": activity.StatusCompleted,
	"rejected": activity.StatusRejected, "failed": activity.StatusFailed,
}

func newActivitiesListCommand() *cobra.Command {
	var c activitiesList
	command := &cobra.Command{
		Use:   "list",
		Short: "List activities, newest first",
		Long: console.Paragraphs(`
List activities, newest first: as a table on a terminal, otherwise as one line of JSON
each.

  {"id","fingerprint","status","type","user","createdAt","canApprove","does":[…],"missing"}

Only waiting activities have "does", and "missing", the number of votes they still need.
With --config there is no user who asks, so "canApprove" is false and "missing" absent.`),
		Example: console.Paragraphs(`
  countersign activities list --url http://127.0.0.1:8080 --api-key ann.json --status waiting
  countersign activities list --config countersign.yaml --since 24h`),
		Args: console.NamedArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.from.register(command)
	flags := command.Flags()
	flags.StringSliceVar(&c.statuses, "status", nil, "only activities with this `STATUS`: waiting, completed, rejected, failed; can be repeated")
	flags.StringVar(&c.since, "since", "", "only activities of the last `TIME`, such as 24h or 7d, or since a time such as 2026-11-23T09:00:00Z")
	flags.StringVar(&c.user, "user", "", "only activities submitted by the user with this `NAME` or id")
	flags.IntVar(&c.limit, "limit", 1000, "list at most this `NUMBER` of activities")
	c.output.RegisterListing(command)
	return command
}

func (c *activitiesList) run(cmd *cobra.Command) (err error) {
	options := api.ListOptions{Limit: activity.MaxPage}
	for _, word := range c.statuses {
		status, ok := statusWords[word]
		if !ok {
			return console.Usagef("--status %q: use waiting, completed, rejected or failed", word)
		}
		options.Statuses = append(options.Statuses, status)
	}
	since, err := console.ParseSince(c.since, time.Now())
	if err != nil {
		return err
	}
	if c.limit < 1 {
		return console.Usagef("--limit %d: at least 1 is required", c.limit)
	}
	asTable, err := c.output.IsText(cmd)
	if err != nil {
		return err
	}
	source, closing, err := c.from.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	out := console.NewListing(cmd.OutOrStdout(), asTable, []string{"ID", "STATUS", "USER", "CREATED", "MISSING", "DOES"}, ActivityLine.cells)
	if err := c.each(cmd.Context(), source, options, since, out.Print); err != nil {
		return err
	}
	return out.Flush()
}

// each calls use with every activity that matches the flags.
func (c *activitiesList) each(ctx context.Context, source activitySource, options api.ListOptions, since time.Time, use func(ActivityLine) error) error {
	for left := c.limit; left > 0; {
		page, err := source.ListActivities(ctx, options)
		if err != nil || len(page) == 0 {
			return deployment.WithReason(err)
		}
		options.Before = page[len(page)-1].ID
		for _, one := range page {
			if one.CreatedAt.Time().Before(since) {
				return nil // ids, and therefore pages, are in order of time
			}
			if !c.by(one) || left == 0 {
				continue
			}
			left--
			if err := use(lineOf(one)); err != nil {
				return err
			}
		}
	}
	return nil
}

// by reports whether the user of --user submitted an activity.
func (c *activitiesList) by(one *api.Activity) bool {
	return c.user == "" || len(one.Votes) > 0 && slices.Contains([]string{one.Votes[0].UserID, one.Votes[0].UserName}, c.user)
}

// ActivityLine is an activity as activities list prints it.
type ActivityLine struct {
	ID          string          `json:"id"`
	Fingerprint string          `json:"fingerprint"`
	Status      activity.Status `json:"status"`
	Type        activity.Type   `json:"type"`
	User        string          `json:"user"`
	CreatedAt   time.Time       `json:"createdAt"`
	CanApprove  bool            `json:"canApprove"`
	Does        []string        `json:"does,omitempty"`
	Missing     *int            `json:"missing,omitempty"`
}

func lineOf(one *api.Activity) ActivityLine {
	line := ActivityLine{
		ID: one.ID, Fingerprint: one.Fingerprint, Status: one.Status, Type: one.Type,
		CreatedAt: one.CreatedAt.Time(), CanApprove: one.CanApprove,
	}
	if len(one.Votes) > 0 {
		line.User = one.Votes[0].UserName
	}
	if one.Review != nil {
		line.Does = one.Review.Sentences
		if one.Review.Missing != nil {
			missing := 0
			for _, group := range one.Review.Missing {
				missing += group.Missing
			}
			line.Missing = &missing
		}
	}
	return line
}

// details returns the line for a person to read.
func (l ActivityLine) details() []console.Detail {
	details := []console.Detail{
		{"id", l.ID}, {"fingerprint", l.Fingerprint}, {"status", string(l.Status)}, {"type", string(l.Type)},
		{"user", l.User}, {"created", l.CreatedAt.Format(time.RFC3339)},
	}
	for _, sentence := range l.Does {
		details = append(details, console.Detail{"does", sentence})
	}
	return details
}

// cells returns the line as a row of the table.
func (l ActivityLine) cells() []string {
	status := strings.ToLower(strings.TrimPrefix(string(l.Status), "ACTIVITY_STATUS_"))
	if l.Status.Waits() {
		status = "waiting"
	}
	missing := ""
	if l.Missing != nil {
		missing = fmt.Sprint(*l.Missing)
	}
	does := strings.Join(l.Does, "; ")
	if does == "" {
		does = strings.ToLower(strings.TrimPrefix(string(l.Type), "ACTIVITY_TYPE_"))
	}
	return []string{l.ID, status, l.User, l.CreatedAt.Format(time.DateTime), missing, does}
}
