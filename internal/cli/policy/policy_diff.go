package policy

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/policy"
)

func newPolicyDiffCommand() *cobra.Command {
	var flags policyFlags
	var output console.OutputFlag
	command := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say whether a policy tightens or widens an earlier one",
		Long: console.Paragraphs(`
Print each rule that differs between two policies, and whether that tightens, widens, does both,
or is not known; then the same of all together, with a request of which more is allowed.

It tightens only if that is proved: whatever is asked, in any state of the limits and with any
votes, NEW allows no more than OLD. Otherwise requests are tried, those of both files' tests and
others. If NEW allows more of one, it is printed with both decisions; if of none, it cannot be said.

The exit status is 0 if NEW tightens or nothing changes, and 1 if it widens or may widen.`),
		Example: "  countersign policy diff policy.yaml new.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			var files [2]*policy.File
			for i := range files {
				file, err := flags.load(args[i])
				if err != nil {
					return err
				}
				files[i] = file
			}
			difference := files[1].Since(files[0])
			var err error
			if output.IsText() {
				_, err = fmt.Fprint(cmd.OutOrStdout(), difference)
			} else {
				err = console.PrintJSON(cmd.OutOrStdout(), difference)
			}
			if err == nil && difference.MayWiden() {
				err = fmt.Errorf("%s is not proved to allow no more than %s: %s", args[1], args[0], difference.Verdict)
			}
			return err
		},
	}
	flags.register(command)
	output.RegisterReading(command)
	return command
}
