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

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
)

func newActivitiesCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "activities",
		Short: "List and show activities, those that wait for approvals too",
		Long: paragraphs(`
An activity is a request that was taken: completed, waiting for approvals, rejected or
failed. A server shows those that the API key may read. With --config they are read
from the store, all of the organization's; one in bolt must not be in use by serve.`),
		Args: commandOnly,
		RunE: chooseCommand,
	}
	command.AddCommand(newActivitiesListCommand(), newActivitiesShowCommand(), newActivitiesResumeCommand())
	return command
}

// activitiesFlags say where activities are read: at a server, or in a store.
type activitiesFlags struct {
	to           client
	configFile   string
	organization string
}

func (f *activitiesFlags) register(cmd *cobra.Command) {
	f.to.register(cmd)
	cmd.Flags().StringVar(&f.configFile, "config", "", "`FILE` whose store is read, without a server: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, with --config, if it has several")
}

// activitySource is where activities are read.
type activitySource interface {
	ListActivities(ctx context.Context, options api.ListOptions) ([]*api.Activity, error)
	GetActivity(ctx context.Context, id string) (*api.Activity, error)
	FindWaiting(ctx context.Context, of activity.Fingerprint) (*api.Activity, error)
}

// open opens the source. The caller calls close.
func (f *activitiesFlags) open(cmd *cobra.Command) (source activitySource, closing func() error, err error) {
	if f.configFile != "" {
		if f.to.base != "" || f.to.key.path != "" {
			return nil, nil, usagef("--config reads the store, and --url with --api-key asks a server: use one of them")
		}
		opened, err := f.openStored(cmd.Context())
		if err != nil {
			return nil, nil, err
		}
		return opened, opened.store.Close, nil
	}
	if err := f.to.open(cmd.Context()); err != nil {
		return nil, nil, err
	}
	to, err := f.to.patient()
	return to, func() error { return nil }, err
}

// openStored opens the store of the configuration.
func (f *activitiesFlags) openStored(ctx context.Context) (*storedActivities, error) {
	configured, err := config.Read(f.configFile)
	if err != nil {
		return nil, err
	}
	organization, err := configured.Organization(f.organization)
	if err != nil {
		return nil, usagef("%v", err)
	}
	if configured.Store == config.MemoryStore {
		return nil, errors.New("store: memory is in the process of serve: ask it, with --url and --api-key")
	}
	opened, err := openStore(ctx, configured.Store)
	return &storedActivities{opened, organization}, err
}

// activitiesList is one call of activities list.
type activitiesList struct {
	from     activitiesFlags
	statuses []string
	since    string
	user     string
	limit    int
	output   outputFlag
}

// statusWords are the statuses as this command takes them.
var statusWords = map[string]activity.Status{
	"waiting": activity.StatusConsensusNeeded, "completed": activity.StatusCompleted,
	"rejected": activity.StatusRejected, "failed": activity.StatusFailed,
}

func newActivitiesListCommand() *cobra.Command {
	var c activitiesList
	command := &cobra.Command{
		Use:   "list",
		Short: "List activities, the newest first",
		Long: paragraphs(`
List activities, the newest first: as a table on a terminal, else one line of JSON
each.

  {"id","fingerprint","status","type","user","createdAt","canApprove","does":[…],"missing"}

"does" and "missing", the number of votes that are still needed, are of activities that
wait. --config knows no reader, and so neither "canApprove" nor "missing".`),
		Example: paragraphs(`
  countersign activities list --url http://127.0.0.1:8080 --api-key ann.json --status waiting
  countersign activities list --config countersign.yaml --since 24h`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.from.register(command)
	flags := command.Flags()
	flags.StringSliceVar(&c.statuses, "status", nil, "only of this `STATUS`: waiting, completed, rejected, failed; can be repeated")
	flags.StringVar(&c.since, "since", "", "only those of the last `TIME`, such as 24h or 7d, or since a time such as 2026-11-23T09:00:00Z")
	flags.StringVar(&c.user, "user", "", "only those that `NAME`, a user's name or id, submitted")
	flags.IntVar(&c.limit, "limit", 1000, "`NUMBER` of activities at most")
	c.output.registerListing(command)
	return command
}

func (c *activitiesList) run(cmd *cobra.Command) (err error) {
	options := api.ListOptions{Limit: activity.MaxPage}
	for _, word := range c.statuses {
		status, ok := statusWords[word]
		if !ok {
			return usagef("--status %q: use waiting, completed, rejected or failed", word)
		}
		options.Statuses = append(options.Statuses, status)
	}
	since, err := parseSince(c.since, time.Now())
	if err != nil {
		return err
	}
	if c.limit < 1 {
		return usagef("--limit %d: at least 1 is expected", c.limit)
	}
	asTable, err := c.output.isText(cmd)
	if err != nil {
		return err
	}
	source, closing, err := c.from.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	var out activityPrinter = jsonActivities{cmd.OutOrStdout()}
	if asTable {
		out = newActivityTable(cmd.OutOrStdout())
	}
	if err := c.each(cmd.Context(), source, options, since, out.print); err != nil {
		return err
	}
	return out.flush()
}

// each calls back with the activities that are wanted.
func (c *activitiesList) each(ctx context.Context, source activitySource, options api.ListOptions, since time.Time, use func(activityLine) error) error {
	for left := c.limit; left > 0; {
		page, err := source.ListActivities(ctx, options)
		if refused, ok := errors.AsType[*activity.Error](err); ok {
			return &refusedError{refused}
		}
		if err != nil || len(page) == 0 {
			return err
		}
		options.Before = page[len(page)-1].ID
		for _, one := range page {
			if one.CreatedAt.Time().Before(since) {
				return nil // ids, and so pages, are in the order of time
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

// by reports whether an activity is of the user that is wanted.
func (c *activitiesList) by(one *api.Activity) bool {
	return c.user == "" || len(one.Votes) > 0 && slices.Contains([]string{one.Votes[0].UserID, one.Votes[0].User.Name}, c.user)
}

// parseSince reads a time, or how long ago it was.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := parseDays(text)
	if err != nil {
		return time.Time{}, usagef("--since %q: a time such as 24h, 7d or 2026-11-23T09:00:00Z is expected", text)
	}
	return now.Add(-ago), nil
}

// activityLine is what is listed of an activity.
type activityLine struct {
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

func lineOf(one *api.Activity) activityLine {
	line := activityLine{
		ID: one.ID, Fingerprint: one.Fingerprint, Status: one.Status, Type: one.Type,
		CreatedAt: one.CreatedAt.Time(), CanApprove: one.CanApprove,
	}
	if len(one.Votes) > 0 {
		line.User = one.Votes[0].User.Name
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

// details are what a person wants to know of an activity.
func (l activityLine) details() []detail {
	all := []detail{
		{"id", l.ID}, {"fingerprint", l.Fingerprint}, {"status", string(l.Status)}, {"type", string(l.Type)},
		{"user", l.User}, {"created", l.CreatedAt.Format(time.RFC3339)},
	}
	for _, sentence := range l.Does {
		all = append(all, detail{"does", sentence})
	}
	return all
}

// activityPrinter prints a listing.
type activityPrinter interface {
	print(activityLine) error
	flush() error
}

type jsonActivities struct{ w io.Writer }

func (p jsonActivities) print(line activityLine) error { return printJSON(p.w, line) }
func (p jsonActivities) flush() error                  { return nil }

type activityTable struct{ *tabwriter.Writer }

func newActivityTable(w io.Writer) activityTable {
	table := activityTable{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(table, "ID\tSTATUS\tUSER\tCREATED\tMISSING\tDOES")
	return table
}

func (t activityTable) print(line activityLine) error {
	status := strings.ToLower(strings.TrimPrefix(string(line.Status), "ACTIVITY_STATUS_"))
	if line.Status.Waits() {
		status = "waiting"
	}
	missing := ""
	if line.Missing != nil {
		missing = fmt.Sprint(*line.Missing)
	}
	does := strings.Join(line.Does, "; ")
	if does == "" {
		does = strings.ToLower(strings.TrimPrefix(string(line.Type), "ACTIVITY_TYPE_"))
	}
	_, err := fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(line.ID), oneLine(status), oneLine(line.User),
		line.CreatedAt.Format(time.DateTime), missing, oneLine(does))
	return err
}

func (t activityTable) flush() error { return t.Flush() }

// oneLine is a text of a server or a transaction for one cell of a table.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, cleanText(text))
}

func newActivitiesShowCommand() *cobra.Command {
	var from activitiesFlags
	var network networkFlag
	var output outputFlag
	var field activityFieldFlag
	command := &cobra.Command{
		Use:   "show ACTIVITY",
		Short: "Show an activity, and what it does if it waits",
		Long: paragraphs(`
Show an activity, named by its id, or by its fingerprint, sha256:…, if it waits.
Standard output gets the answer, {"activity":…}, or on a terminal what it says in short.
What one that waits does, and which votes are missing, goes to standard error, as
'countersign approve' shows it; and so does, with --config, what the policy decided: by
which rules, what each limit counted for the activity, and what is left of that limit
now, in the smallest unit.`),
		Example: "  countersign activities show --url http://127.0.0.1:8080 --api-key ann.json 0199…",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			limits, err := network.limits()
			if err != nil {
				return err
			}
			asText, err := output.isText(cmd)
			if err != nil {
				return err
			}
			source, closing, err := from.open(cmd)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closing()) }()
			found, err := findActivity(cmd.Context(), source, args[0])
			if err != nil {
				return err
			}
			if found.Status.Waits() && found.Review != nil {
				shown, err := reviewed(found, limits, nil)
				if err != nil {
					return err
				}
				if err := shown.render(cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			if stored, ok := source.(*storedActivities); ok {
				if err := stored.showDecision(cmd.Context(), cmd.ErrOrStderr(), found.ID); err != nil {
					return err
				}
			}
			if field.name != "" {
				return field.print(cmd, found.Answer)
			}
			if asText {
				return printDetails(cmd.OutOrStdout(), lineOf(found).details())
			}
			return printLine(cmd, found.Answer)
		},
	}
	from.register(command)
	network.register(command)
	field.register(command)
	output.registerListing(command)
	return command
}
