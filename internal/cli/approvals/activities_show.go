// Package approvals is the commands about activities that wait: activities, approve and reject.
package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/store"
)

type activitiesShow struct {
	from    activitiesFlags
	network show.NetworkFlag
	field   show.ActivityFieldFlag
	output  console.OutputFlag
}

func newActivitiesShowCommand() *cobra.Command {
	var c activitiesShow
	command := &cobra.Command{
		Use:   "show ACTIVITY",
		Short: "Show an activity, and what it does if it is waiting",
		Long: console.Paragraphs(`
Show an activity by its id, or a waiting one by its fingerprint, sha256:…

Standard output receives the answer, {"activity":…}, or a short form on a terminal. For
a waiting activity, standard error shows what it does and which votes are missing, like
'countersign approve'. With --config, standard error also shows the registered wallets
that the transaction used, and what the policy decided: the rules, what each limit counted
for the activity, and what is left of that limit now, in the smallest unit.`),
		Example: "  countersign activities show --url http://127.0.0.1:8080 --api-key ann.json 0199…",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	c.from.register(command)
	c.network.Register(command)
	c.field.Register(command)
	c.output.RegisterListing(command)
	return command
}

func (c *activitiesShow) run(cmd *cobra.Command, which string) (err error) {
	source, closing, err := c.from.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	recorded, err := findActivity(cmd.Context(), source, which)
	if err != nil {
		return err
	}
	if recorded.Status.Waits() && recorded.Review != nil {
		shown, err := show.Reviewed(recorded, c.network.Limits(), nil)
		if err != nil {
			return err
		}
		if err := shown.Render(cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	if local, ok := source.(*deployment.StoredActivities); ok {
		if err := showDecision(cmd.Context(), local, cmd.ErrOrStderr(), recorded.ID); err != nil {
			return err
		}
	}
	if c.field.Name != "" {
		return c.field.Print(cmd, recorded.Answer)
	}
	if c.output.IsText() {
		return console.PrintDetails(cmd.OutOrStdout(), lineOf(recorded).details())
	}
	return console.PrintLine(cmd, recorded.Answer)
}

// showDecision writes the digests of an activity's descriptor readings, the registered wallets
// that it used, and what the policy decided: the rules, what each limit counted for the activity, and what is left
// of that limit now.
func showDecision(ctx context.Context, s *deployment.StoredActivities, w io.Writer, id string) error {
	recorded, err := s.Store.Get(ctx, s.Organization, id)
	if err != nil {
		return err
	}
	record, err := activity.DecodeRecord(recorded.Data)
	if err != nil {
		return err
	}
	decision := &record.Decision
	if decision.Readings != "" {
		fmt.Fprintf(w, "readings %s\n", decision.Readings)
		for _, digest := range decision.ReadWith {
			fmt.Fprintf(w, "  read with %s\n", digest)
		}
	}
	for _, wallet := range decision.Wallets {
		fmt.Fprintf(w, "wallet %s\n  digest %s\n", console.CleanText(wallet.Name), wallet.Digest)
		if wallet.Leaf != "" {
			fmt.Fprintf(w, "  leaf   %s\n", console.CleanText(wallet.Leaf))
		}
	}
	if decision.PolicyDigest == "" {
		return nil
	}
	fmt.Fprintf(w, "policy %s\n", decision.PolicyDigest)
	if decision.PricesDigest != "" {
		fmt.Fprintf(w, "  prices %s\n", decision.PricesDigest)
	}
	fmt.Fprintf(w, "  rules  %s\n", console.CleanText(strings.Join(decision.Rules, ", ")))
	for _, charge := range decision.Charges {
		left, err := leftOf(ctx, s, charge)
		if err != nil {
			return fmt.Errorf("limit %s: %w", charge.Limit, err)
		}
		fmt.Fprintf(w, "  limit  %s of %s: this activity %s, of %s in %s; left now %s\n",
			console.CleanText(charge.Limit), console.CleanText(charge.Subject), charge.Amount, charge.Max, charge.Window, left)
	}
	for _, group := range decision.Required {
		fmt.Fprintf(w, "  votes  %d, by rule %s\n", group.Count, console.CleanText(group.Rule))
	}
	return nil
}

// leftOf returns what is left of a limit now. It is zero if the limit was lowered since.
func leftOf(ctx context.Context, s *deployment.StoredActivities, charged activity.Charge) (left *big.Int, err error) {
	charge := store.Charge{Limit: charged.Limit, Subject: charged.Subject, Window: charged.Window}
	err = s.Store.Change(ctx, s.Organization, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		spent, _, err := store.Spent(ledger, charge, time.Now())
		if err == nil {
			left = new(big.Int).Sub(charged.Max, spent)
		}
		return nil, err
	}))
	if err == nil && left.Sign() < 0 {
		left.SetInt64(0)
	}
	return left, err
}

// NewActivitiesCommand returns the command activities.
func NewActivitiesCommand() *cobra.Command {
	return console.Group("activities", "List and show activities, including those that wait for approvals", `
An activity is a request that was accepted: it is completed, waiting for approvals,
rejected or failed. A server shows the activities that the API key may read. With
--config, all of the organization's are read from the store; a bolt store must not be
in use by serve.`,
		newActivitiesListCommand(), newActivitiesShowCommand(), newActivitiesResumeCommand())
}

// activitiesFlags name the server or the store to read activities from.
type activitiesFlags struct {
	to           deployment.Client
	configFile   string
	organization string
}

func (f *activitiesFlags) register(cmd *cobra.Command) {
	f.to.Register(cmd)
	cmd.Flags().StringVar(&f.configFile, "config", "", "read the store that `FILE` names instead of asking a server: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, if --config has several")
	for _, server := range []string{"url", "api-key"} {
		console.Exclusive(cmd, "one reads the store, the other asks a server: use one of them", "config", server)
	}
}

// activitySource is a server or a store that activities are read from.
type activitySource interface {
	ListActivities(ctx context.Context, options api.ListOptions) ([]*api.Activity, error)
	GetActivity(ctx context.Context, id string) (*api.Activity, error)
	FindWaiting(ctx context.Context, fingerprint activity.Fingerprint) (*api.Activity, error)
}

// open opens the source. The caller calls closing.
func (f *activitiesFlags) open(cmd *cobra.Command) (source activitySource, closing func() error, err error) {
	if f.configFile == "" {
		to, err := f.to.OpenRetrying(cmd.Context())
		return to, func() error { return nil }, err
	}
	configured, organization, err := deployment.ReadConfig(f.configFile, f.organization)
	if err != nil {
		return nil, nil, err
	}
	if configured.Store == config.MemoryStore {
		return nil, nil, errors.New("store: memory exists only inside serve: ask the server, with --url and --api-key")
	}
	opened, err := deployment.OpenStore(cmd.Context(), configured)
	if err != nil {
		return nil, nil, deployment.IfInUse(err, "ask the server, with --url and --api-key")
	}
	return &deployment.StoredActivities{Store: opened, Organization: organization.ID}, opened.Close, nil
}

func newActivitiesResumeCommand() *cobra.Command {
	var flags deployment.KeystoreFlags
	command := &cobra.Command{
		Use:   "resume",
		Short: "Carry out activities that have their votes, and reject expired ones",
		Long: console.Paragraphs(`
Go through the waiting activities. Those that have all their votes are carried out if
nothing else blocks them any more, such as a limit or an unreachable HSM; those that
have waited too long are rejected. serve does the same whenever it receives requests:
use this command while it is stopped, or with several servers on one database. Standard
error receives a log line for each activity that it carries out or ends.`),
		Example: "  countersign activities resume --config countersign.yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return resumeActivities(cmd, &flags) },
	}
	flags.Register(command)
	console.Require(command, "config", "the configuration of the server")
	return command
}

func resumeActivities(cmd *cobra.Command, flags *deployment.KeystoreFlags) error {
	if flags.Set("org") || flags.Set("keystore") {
		return console.Usagef("--org and --keystore do not go with activities resume: it is for all organizations of --config")
	}
	configured, err := config.Read(flags.ConfigFile)
	if err != nil {
		return err
	}
	flags.Use(configured)
	knowledge, err := deployment.ReadKnowledge(configured)
	if err != nil {
		return err
	}
	engine, _, err := deployment.OpenEngine(cmd, flags, func(settings *countersign.Config) {
		settings.Descriptors = knowledge.Reader()
		settings.Logger = slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
	})
	if err != nil {
		return err
	}
	return errors.Join(engine.Operator().ResumeWaiting(cmd.Context()), engine.Close())
}
