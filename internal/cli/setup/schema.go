package setup

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/policy"
)

// Schemas return the JSON Schemas of the files that people write, by what they are.
var Schemas = map[string]func() ([]byte, error){
	"config": config.JSONSchema,
	"policy": func() ([]byte, error) { return policy.JSONSchema(deployment.PolicyOptions(nil)) },
}

// NewSchemaCommand returns the command schema.
func NewSchemaCommand() *cobra.Command {
	names := slices.Sorted(maps.Keys(Schemas))
	return &cobra.Command{
		Use:   "schema config|policy",
		Short: "Print the JSON Schema of a file, for editors",
		Long: console.Paragraphs(`
Print the JSON Schema (draft 2020-12) of countersign.yaml or of a policy file. It is made by the
code that reads these files: an editor that knows it completes names, and marks what serve and
policy check would refuse. They check more than a schema can say.

Editors with the YAML language server take it from the first line of a file:

  # yaml-language-server: $schema=policy.schema.json`),
		Example:   "  countersign schema policy > policy.schema.json",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, err := Schemas[args[0]]()
			if err == nil {
				_, err = cmd.OutOrStdout().Write(schema)
			}
			return err
		},
	}
}
