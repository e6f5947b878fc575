package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
)

func newPolicyCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "policy",
		Short: "Check a policy, and ask it about transactions",
		Long: paragraphs(`
A policy is a file of rules about who may have what signed: docs/policies.md. The
configuration names it, for an organization; serve reads it at the start and on
SIGHUP.`),
		Args: commandOnly,
		RunE: chooseCommand,
	}
	command.AddCommand(newPolicyCheckCommand(), newPolicyExplainCommand(), newPolicyReplayCommand(), newPolicyImportCommand())
	return command
}

// policyFlags say which file is meant, and whose names it may use.
type policyFlags struct {
	configFile   string
	organization string
}

func (f *policyFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.configFile, "config", "", "`FILE` whose users the policy may name: countersign.yaml")
	cmd.Flags().StringVar(&f.organization, "org", "", "`ID` of the organization, if the configuration has several")
}

// load reads a policy. Without a configuration its names are not checked. Keys
// are behind a passphrase and are not read here: serve checks their names.
func (f *policyFlags) load(path string) (*policy.File, error) {
	if f.configFile == "" {
		if path == "" {
			return nil, usagef("name a policy, or a configuration that names one with --config")
		}
		return policy.Load(path, policy.Options{})
	}
	configured, err := config.Read(f.configFile)
	if err != nil {
		return nil, err
	}
	id, err := configured.Organization(f.organization)
	if err != nil {
		return nil, usagef("%v", err)
	}
	at := slices.IndexFunc(configured.Organizations, func(one countersign.OrganizationConfig) bool { return one.ID == id })
	organization := configured.Organizations[at]
	if path != "" {
		organization.Policy = path
	}
	if organization.Policy == "" {
		return nil, fmt.Errorf("%s: organization %s has no policy", f.configFile, id)
	}
	names, err := policyNames(context.Background(), &organization, memory.New())
	if err != nil {
		return nil, err
	}
	names.Keys = nil
	return policy.Load(organization.Policy, policy.Options{Names: names})
}

func newPolicyCheckCommand() *cobra.Command {
	var flags policyFlags
	var strict bool
	var against string
	command := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a policy and run its tests",
		Long: paragraphs(`
Read a policy as serve does: types, names, units, addresses, what its conditions
can cost at most, and its own tests. Problems are printed as file:line:column with
a caret, warnings too; with --strict a warning is a failure.

--against OLD names limits that are new, gone or counted otherwise: those start
at zero.`),
		Example: "  countersign policy check policy.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkPolicy(cmd, &flags, strings.Join(args, ""), strict, against)
		},
	}
	flags.register(command)
	command.Flags().BoolVar(&strict, "strict", false, "take a warning for a failure")
	command.Flags().StringVar(&against, "against", "", "`FILE` that the policy replaces")
	return command
}

func checkPolicy(cmd *cobra.Command, flags *policyFlags, path string, strict bool, against string) error {
	file, err := flags.load(path)
	if err != nil {
		return err
	}
	for _, warning := range file.Warnings() {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", file.RenderProblem(warning))
	}
	if against != "" {
		old, err := policy.Load(against, policy.Options{SkipTests: true})
		if err != nil {
			return err
		}
		for _, change := range file.LimitsSince(old) {
			fmt.Fprintln(cmd.ErrOrStderr(), "limit:", change)
		}
	}
	if strict && len(file.Warnings()) > 0 {
		return fmt.Errorf("%d warnings", len(file.Warnings()))
	}
	return printJSON(cmd.OutOrStdout(), struct {
		Rules    int    `json:"rules"`
		Tests    int    `json:"tests"`
		Warnings int    `json:"warnings"`
		Cost     uint64 `json:"cost"`
		Digest   string `json:"digest"`
	}{len(file.Rules()), file.Tests(), len(file.Warnings()), file.Cost(), file.DigestText()})
}

func newPolicyExplainCommand() *cobra.Command {
	var flags policyFlags
	var asked policyQuestion
	command := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "Say what a policy decides about a transaction, and why",
		Long: paragraphs(`
Read an unsigned transaction in hex from standard input, and say what the policy
decides and, for every rule, whether it matched or which of its clauses was the
first not to hold, with the values that it saw. Calls are read with the descriptors of
--config. Nothing is signed, and no limit is charged: limits count as unused. The exit status is 0 whatever is decided.`),
		Example: "  countersign policy explain --config countersign.yaml --as payments --type TRANSACTION_TYPE_ETHEREUM < transaction.hex",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explainPolicy(cmd, &flags, strings.Join(args, ""), &asked)
		},
	}
	flags.register(command)
	set := command.Flags()
	set.StringVar(&asked.kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	set.StringVar(&asked.user, "as", "", "`USER` who asks, by name or id")
	set.StringSliceVar(&asked.tags, "tag", nil, "`TAG` of the user, where there is no --config")
	set.StringVar(&asked.key, "key", "", "`KEY` that would sign, by name or id")
	set.StringVar(&asked.at, "at", "", "`TIME` that is asked at, such as 2026-11-23T09:00:00Z (default: now)")
	asked.output.registerReading(command)
	return command
}

// policyQuestion is what a policy is asked.
type policyQuestion struct {
	kind, user, key, at string
	tags                []string
	output              outputFlag
}

func explainPolicy(cmd *cobra.Command, flags *policyFlags, path string, question *policyQuestion) error {
	asText, err := question.output.isText(cmd)
	if err != nil {
		return err
	}
	asked, err := question.authorization()
	if err != nil {
		return err
	}
	kind, err := parseType(question.kind)
	if err != nil {
		return err
	}
	file, err := flags.load(path)
	if err != nil {
		return err
	}
	if flags.configFile != "" {
		found, ok := file.User(question.user)
		if !ok {
			return usagef("--as %s: the organization has no such user", question.user)
		}
		asked.User = found
	}
	unsigned, err := readTransaction(cmd)
	if err != nil {
		return err
	}
	seen, err := countersign.Inspect(kind, unsigned, countersign.Limits{})
	if err != nil {
		return err
	}
	known, err := knowledgeOf(flags.configFile)
	if err != nil {
		return err
	}
	seen = seen.ReadWith(known.reader())
	asked.Intent = activity.SignTransactionIntent{Type: kind, UnsignedTransaction: unsigned}
	asked.Summary, asked.Effects, asked.Hazards, asked.Readings = &seen.Summary, seen.Effects, seen.Hazards, seen.Readings
	explanation, err := file.Explain(cmd.Context(), *asked)
	if err != nil {
		return err
	}
	if !asText {
		return printJSON(cmd.OutOrStdout(), explanation)
	}
	_, err = cmd.OutOrStdout().Write([]byte(explanation.String()))
	return err
}

func (q *policyQuestion) authorization() (*countersign.Authorization, error) {
	asked := &countersign.Authorization{User: countersign.User{ID: q.user, Name: q.user, Tags: q.tags}, Now: time.Now()}
	if q.key != "" {
		asked.Keys = []countersign.SigningKey{{ID: q.key, Name: q.key}}
	}
	if q.at == "" {
		return asked, nil
	}
	var err error
	if asked.Now, err = time.Parse(time.RFC3339, q.at); err != nil {
		return nil, usagef("--at: a time such as 2026-11-23T09:00:00Z is expected")
	}
	return asked, nil
}

func newPolicyImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import",
		Short: "Turn policies of the hosted service into a policy file",
		Long: paragraphs(`
Read policies of the hosted service as JSON from standard input, a list or an
object with a member "policies", and print a policy file. What cannot be carried
over is a comment in it, with the reason. Read the result before you use it: a
policy that allowed whole transactions does so still, and says it.`),
		Example: "  countersign policy import < hosted-policies.json > policy.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return importPolicies(cmd) },
	}
}

func importPolicies(cmd *cobra.Command) error {
	content, err := readAll(cmd.Context(), cmd.InOrStdin(), lines.MaxLength)
	if err != nil {
		return fmt.Errorf("read the policies from standard input: %w", err)
	}
	file, imported, err := policy.Import(bytes.TrimSpace(content))
	if err != nil {
		return err
	}
	carried := 0
	for _, one := range imported {
		if one.Problem == "" {
			carried++
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d policies carry over\n", carried, len(imported))
	_, err = cmd.OutOrStdout().Write([]byte(file))
	return err
}
