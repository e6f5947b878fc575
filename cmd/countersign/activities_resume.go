package main

import (
	"errors"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/spf13/cobra"
)

func newActivitiesResumeCommand() *cobra.Command {
	var at keystoreFlags
	command := &cobra.Command{
		Use:   "resume",
		Short: "Carry out what has its votes, and reject what waited too long",
		Long: paragraphs(`
Go through the activities that wait: those that have their votes are carried out if
nothing is in the way any more, such as a limit or an HSM that was away, and those that
waited for too long are rejected. serve does the same by itself as long as requests
come; this is for one that is stopped, or for several that share a database.`),
		Example: "  countersign activities resume --config countersign.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return resumeActivities(cmd, &at) },
	}
	at.register(command)
	return command
}

func resumeActivities(cmd *cobra.Command, at *keystoreFlags) error {
	if at.configFile == "" {
		return usagef("--config is missing: the configuration whose activities are meant")
	}
	configured, err := config.Read(at.configFile)
	if err != nil {
		return err
	}
	at.use(configured)
	known, err := readKnowledge(configured)
	if err != nil {
		return err
	}
	engine, err := openEngine(cmd, at, func(made *countersign.Config) { made.Descriptors = known.reader() })
	if err != nil {
		return err
	}
	return errors.Join(engine.ResumeWaiting(cmd.Context()), engine.Close())
}
