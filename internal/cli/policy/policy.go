// Package policy is the command policy: check, explain, replay and import.
package policy

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/policy/hosted"
	"github.com/countersign-dev/countersign/policy"
)

// NewCommand returns the command policy.
func NewCommand() *cobra.Command {
	return console.Group("policy", "Check a policy, and ask what it decides", `
A policy is a file of rules that say who may have what signed: see docs/policies.md. The
configuration names one for an organization; serve reads it at startup and on SIGHUP.`,
		newPolicyCheckCommand(), newPolicyExplainCommand(), newPolicyReplayCommand(), newPolicyImportCommand())
}

// policyFlags name the configuration that a policy is checked against.
type policyFlags struct {
	configFile   string
	organization string
}

func (f *policyFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.configFile, "config", "", "`FILE` whose users the policy may name: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, if the configuration has several")
}

// load reads a policy. Without a configuration the names in it are not checked. Names of
// keys are never checked here, because reading the keys takes the passphrase: serve
// checks them.
func (f *policyFlags) load(path string) (*policy.File, error) {
	if f.configFile == "" {
		if path == "" {
			return nil, console.Usagef("name a policy file, or a configuration with --config")
		}
		return policy.Load(path, deployment.PolicyOptions(nil))
	}
	_, organization, err := f.configured()
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

// configured reads the configuration.
func (f *policyFlags) configured() (*config.Config, *access.OrganizationConfig, error) {
	return deployment.ReadConfig(f.configFile, f.organization)
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
		Args:    console.NamedArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if upgrade {
				return upgradePolicy(cmd, strings.Join(args, ""))
			}
			return checkPolicy(cmd, &flags, strings.Join(args, ""), strict, against)
		},
	}
	flags.register(command)
	command.Flags().BoolVar(&strict, "strict", false, "fail on warnings")
	command.Flags().StringVar(&against, "against", "", "policy `FILE` to compare the limits with: the one to be replaced")
	command.Flags().BoolVar(&upgrade, "upgrade", false, "print FILE with the lines to change for this version")
	return command
}

func upgradePolicy(cmd *cobra.Command, path string) error {
	content, err := os.ReadFile(path)
	if err == nil {
		options := deployment.PolicyOptions(nil)
		options.Folder = filepath.Dir(path)
		_, err = fmt.Fprint(cmd.OutOrStdout(), policy.Upgrade(path, content, options))
	}
	return err
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
		Cost     uint64 `json:"cost"`
		Digest   string `json:"digest"`
	}{len(file.Rules()), file.Tests(), count, file.Cost(), file.DigestText()})
}

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
still does, and says so.`),
		Example: "  countersign policy import < hosted-policies.json > policy.yaml",
		Args:    console.StdinArgs("list of policies"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return importPolicies(cmd) },
	}
}

func importPolicies(cmd *cobra.Command) error {
	content, err := console.ReadStandardInput(cmd, "list of policies", lines.MaxLength)
	if err != nil {
		return err
	}
	file, imported, err := hosted.Import(bytes.TrimSpace(content))
	if err != nil {
		return err
	}
	converted, denied := 0, []string{}
	for _, policy := range imported {
		switch {
		case policy.Problem == "":
			converted++
		case policy.Rule != "":
			denied = append(denied, policy.Name)
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d policies converted\n", converted, len(imported))
	if len(denied) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "These may deny and were not converted, so their rules deny all that they may have named: %s\n", strings.Join(denied, ", "))
	}
	_, err = cmd.OutOrStdout().Write([]byte(file))
	return err
}
