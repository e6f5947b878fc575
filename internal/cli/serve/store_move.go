package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

// NewStoreCommand returns the command store.
func NewStoreCommand() *cobra.Command {
	return console.Group("store", "Move an organization to another database",
		"Look after the databases of a server: see docs/operations.md.", newStoreMoveCommand())
}

func newStoreMoveCommand() *cobra.Command {
	var path, to string
	command := &cobra.Command{
		Use:   "move ORG",
		Short: "Move an organization to another database while servers run",
		Long: console.Paragraphs(`
Move the organization ORG to the database that stores names --to, with its activities, limits,
codes, log and undelivered events. Its requests are answered 503 from the first step until the
servers, which must know both databases, have reloaded a configuration with its new store:

  {"organizationId":"acme","store":"eu"}

If the command is cut off, the organization stays held: run it again, or the other way round. It
moves back with --to store, the name of the database of organizations that name none.`),
		Example: "  countersign store move acme --to eu --config countersign.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			configured, err := config.Read(path)
			if err != nil {
				return err
			}
			told := func(step string) { fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", args[0], step) }
			if err := deployment.MoveOrganization(cmd.Context(), configured, args[0], to, told); err != nil {
				return err
			}
			told("moved: name the store " + to + " for it in the configuration of every server, and reload them")
			return console.PrintJSON(cmd.OutOrStdout(), map[string]string{"organizationId": args[0], "store": to})
		},
	}
	command.Flags().StringVar(&path, "config", "", "`FILE`: the configuration of the server: countersign.yaml")
	command.Flags().StringVar(&to, "to", "", "`NAME` of the database in stores, or store")
	console.Require(command, "config", "the configuration of the server")
	console.Require(command, "to", "the name in stores of the database to move to")
	return command
}
