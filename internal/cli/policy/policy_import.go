package policy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
)

// importer is the program that policy import runs: see tools/countersign-policy-import.
const importer = "countersign-policy-import"

func newPolicyImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import",
		Short: "Convert policies of the hosted service into a policy file",
		Long: console.Paragraphs(`
Read policies of the hosted service as JSON from standard input, a list or an object
with a member "policies", and print a policy file. Policies that cannot be converted
become comments that give the reason. In place of one that may deny stands a rule that
denies all that it may have named, at the widest every activity: nothing is allowed that
was denied. Review the result before you use it: a policy that allowed whole transactions
still does, and says so.

The program countersign-policy-import does it, which the packages install: the one beside
countersign, otherwise the one in PATH.`),
		Example: "  countersign policy import < hosted-policies.json > policy.yaml",
		Args:    console.StdinArgs("list of policies"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := findImporter()
			if err != nil {
				return err
			}
			program := exec.CommandContext(cmd.Context(), path) //nolint:gosec // one of our programs
			program.Stdin, program.Stdout, program.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := program.Run(); err != nil { // which it has printed
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		},
	}
}

func findImporter() (string, error) {
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), importer)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(importer)
	if err != nil {
		return "", fmt.Errorf("%w: install a package of the release, which has it, "+
			"or run 'go install .' in tools/%s of the source", err, importer)
	}
	return path, nil
}
