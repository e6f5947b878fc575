// Package policy is the command policy: check, diff, explain, replay and import.
package policy

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/policy"
)

// NewCommand returns the command policy.
func NewCommand() *cobra.Command {
	return console.Group("policy", "Check a policy, and ask what it decides", `
A policy is a file of rules that say who may have what signed: see docs/policies.md. The
configuration names one for an organization; serve reads it at startup and on SIGHUP.`,
		newPolicyCheckCommand(), newPolicyDiffCommand(), newPolicyExplainCommand(), newPolicyReplayCommand(),
		newPolicyImportCommand())
}

type policyFlags struct {
	configFile   string
	organization string
}

func (f *policyFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.configFile, "config", "", "`FILE` whose users the policy may name: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, if the configuration has several")
}

// load reads a policy. Without a configuration the names in it are not checked. Names of keys are
// never checked here, because reading the keys takes the passphrase: serve checks them.
func (f *policyFlags) load(path string) (*policy.File, error) {
	if f.configFile == "" {
		if path == "" {
			return nil, console.Usagef("name a policy file, or a configuration with --config")
		}
		return policy.Load(path, deployment.PolicyOptions(nil))
	}
	_, organization, err := deployment.ReadConfig(f.configFile, f.organization)
	if err != nil {
		return nil, err
	}
	path = cmp.Or(path, organization.Policy)
	if path == "" {
		return nil, fmt.Errorf("%s: organization %s has no policy", f.configFile, organization.ID)
	}
	names, err := policy.NamesOf(context.Background(), organization, nil)
	if err != nil {
		return nil, err
	}
	return policy.Load(path, deployment.PolicyOptions(names))
}

func newPolicyCheckCommand() *cobra.Command {
	var flags policyFlags
	var strict, upgrade bool
	var against string
	command := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a policy and run its tests",
		Long: console.Paragraphs(`
Check a policy: types, names, units, addresses, the maximum cost of its conditions, and its
own tests. Errors and warnings are printed as file:line:column with a caret; with --strict,
warnings fail the check.

--config reads the whole configuration first, as 'countersign serve --check' does, and
refuses what serve refuses; without FILE it checks the organization's policy. The names of
keys are checked if the configuration names the file with the keystore's passphrase.

--against OLD lists the limits that are new, removed, or counted differently: those
start at zero.

--upgrade prints FILE, written for an earlier version, with a comment above each line that
has to change.`),
		Example: "  countersign policy check policy.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := strings.Join(args, "")
			if !upgrade {
				return checkPolicy(cmd, &flags, path, strict, against)
			}
			content, err := os.ReadFile(path)
			if err == nil {
				options := deployment.PolicyOptions(nil)
				options.Folder = filepath.Dir(path)
				_, err = fmt.Fprint(cmd.OutOrStdout(), policy.Upgrade(path, content, options))
			}
			return err
		},
	}
	flags.register(command)
	command.Flags().BoolVar(&strict, "strict", false, "fail on warnings")
	command.Flags().StringVar(&against, "against", "", "policy `FILE` to compare the limits with: the one to be replaced")
	command.Flags().BoolVar(&upgrade, "upgrade", false, "print FILE with the lines to change for this version")
	return command
}

// checked reads a policy as serve does: with everything that the configuration names, if
// there is one. It also returns the warnings of the configuration.
func (f *policyFlags) checked(cmd *cobra.Command, path string) (*policy.File, []string, error) {
	if f.configFile == "" {
		file, err := f.load(path)
		return file, nil, err
	}
	loader := deployment.Loader{Path: f.configFile}
	loaded, err := loader.Load(cmd)
	if err != nil {
		return nil, nil, err
	}
	loaded.Discard()
	for _, open := range loaded.NotDone {
		fmt.Fprintln(cmd.ErrOrStderr(), "not done:", open)
	}
	organization, err := loaded.Configured.Organization(f.organization)
	if err != nil {
		return nil, nil, console.Usagef("%v", err)
	}
	if file := loaded.Policies[organization.ID]; path == "" && file != nil {
		return file, loaded.Warnings, nil
	}
	file, err := f.load(path)
	return file, loaded.Warnings, err
}

func checkPolicy(cmd *cobra.Command, flags *policyFlags, path string, strict bool, against string) error {
	file, warnings, err := flags.checked(cmd, path)
	if err != nil {
		return err
	}
	if why := file.PricesProblem(time.Now()); why != "" {
		warnings = append(warnings, why+": what is judged by a value is refused")
	}
	for _, warning := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", console.CleanText(warning))
	}
	for _, warning := range file.Warnings() {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", file.RenderProblem(warning))
	}
	if against != "" {
		options := deployment.PolicyOptions(nil)
		options.SkipTests = true
		old, err := policy.Load(against, options)
		if err != nil {
			return err
		}
		for _, change := range file.LimitsSince(old) {
			fmt.Fprintln(cmd.ErrOrStderr(), "limit:", change)
		}
	}
	count := len(warnings) + len(file.Warnings())
	if strict && count > 0 {
		return fmt.Errorf("%d warnings", count)
	}
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		Rules    int    `json:"rules"`
		Tests    int    `json:"tests"`
		Warnings int    `json:"warnings"`
		Cost     uint64 `json:"cost"`    // in steps, for the largest request
		Effects  int    `json:"effects"` // the most of a request that the file can judge
		Digest   string `json:"digest"`
		Prices   string `json:"prices,omitempty"`
	}{len(file.Rules()), file.Tests(), count, file.Cost(), file.Effects(), file.DigestText(), file.PricesText()})
}
