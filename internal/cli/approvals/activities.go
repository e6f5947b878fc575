// Package approvals is the commands about activities that wait: activities, approve and
// reject.
package approvals

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

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
