package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/policy"
)

// policyExplain holds the flags of one call of policy explain.
type policyExplain struct {
	policyFlags
	kind, user, key, at string
	tags                []string
	output              outputFlag
	now                 time.Time // of --at
}

func newPolicyExplainCommand() *cobra.Command {
	var c policyExplain
	command := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "Say what a policy decides about a transaction or request, and why",
		Long: paragraphs(`
Print what the policy decides and, for every rule, whether it matched or which of its
clauses failed first, with the values it compared. Nothing is signed, and no limit is
charged: limits count as unused. The exit status is 0 whatever the decision.

Standard input is a request, as 'countersign request' and 'countersign stamp' print it,
or an unsigned transaction in hex (a PSBT also in base64 or binary).

With --config a request is judged as serve would judge it now: its stamp names the user,
and its keys are looked up, for which the keystore is opened. Only its age is not
checked.

Of a transaction only the bytes are known: --as, --tag and --key say who submits it and
which key signs. The keystore is not read. Without --key, rules that name keys do not
match, and limits per key or wallet cannot count. Change of a Bitcoin transaction counts
as a payment. Calls are read with the descriptors of --config.`),
		Example: paragraphs(`
  countersign policy explain --config countersign.yaml < request.json
  countersign policy explain --config countersign.yaml --as payments --type TRANSACTION_TYPE_ETHEREUM < transaction.hex`),
		Args: namedArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	c.register(command)
	set := command.Flags()
	set.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	set.StringVar(&c.user, "as", "", "`USER` who submits it, by name or id")
	set.StringSliceVar(&c.tags, "tag", nil, "`TAG` of the user, without --config")
	set.StringVar(&c.key, "key", "", "`KEY` that would sign, by name or id")
	set.StringVar(&c.at, "at", "", "`TIME` of the request, such as 2026-11-23T09:00:00Z (default: now)")
	c.output.registerReading(command)
	return command
}

func (c *policyExplain) run(cmd *cobra.Command, path string) (err error) {
	asText, err := c.output.isText(cmd)
	if err != nil {
		return err
	}
	c.now = time.Now()
	if c.at != "" {
		if c.now, err = time.Parse(time.RFC3339, c.at); err != nil {
			return usagef("--at: use a time such as 2026-11-23T09:00:00Z")
		}
	}
	content, err := readTransaction(cmd)
	if err != nil {
		return err
	}
	ask := c.aboutTransaction
	if strings.HasPrefix(content, "{") {
		ask = c.aboutRequest
	}
	file, authorization, err := ask(cmd, path, content)
	if err != nil {
		return err
	}
	explanation, err := file.Explain(cmd.Context(), authorization)
	if err != nil {
		return err
	}
	if judged := authorization.Credential != nil; !judged && c.key == "" && explanation.Decision == "deny" {
		fmt.Fprintln(cmd.ErrOrStderr(), "No --key was given: rules that name keys, and limits per key or wallet, cannot allow anything.")
	}
	if !asText {
		return printJSON(cmd.OutOrStdout(), explanation)
	}
	_, err = cmd.OutOrStdout().Write([]byte(explanation.String()))
	return err
}

// aboutTransaction returns the policy and what it is asked about a transaction.
func (c *policyExplain) aboutTransaction(_ *cobra.Command, path, content string) (*policy.File, access.Authorization, error) {
	kind, err := parseType(c.kind)
	if err != nil {
		return nil, access.Authorization{}, err
	}
	unsigned, _ := decodeAs(kind, content)
	return c.aboutIntent(path, activity.SignTransactionIntent{Type: kind, UnsignedTransaction: unsigned})
}

// aboutIntent returns the policy and what it is asked about an intent, of which only the
// bytes are known.
func (c *policyExplain) aboutIntent(path string, intent activity.Intent) (*policy.File, access.Authorization, error) {
	file, err := c.load(path)
	if err != nil {
		return nil, access.Authorization{}, err
	}
	asked := access.Authorization{User: access.User{ID: c.user, Name: c.user, Tags: c.tags}, Intent: intent, Now: c.now}
	if c.configFile != "" {
		if asked.User, err = c.configuredUser(file); err != nil {
			return nil, asked, err
		}
	}
	asked.Votes = []access.Vote{{User: asked.User, At: c.now}}
	if c.key != "" {
		asked.Keys = []access.SigningKey{{ID: c.key, Name: c.key}}
	}
	inspection, err := all.InspectIntent(intent, all.Limits{})
	if err != nil {
		return nil, asked, err
	}
	known, err := knowledgeOf(c.configFile)
	if err != nil {
		return nil, asked, err
	}
	inspection = inspection.ReadWith(known.reader())
	asked.Summary, asked.Effects = &inspection.Summary, inspection.Effects
	asked.Hazards, asked.Readings = inspection.Hazards, inspection.Readings
	return file, asked, nil
}

// configuredUser returns the user whom --as names.
func (c *policyExplain) configuredUser(file *policy.File) (access.User, error) {
	if c.user == "" {
		return access.User{}, usagef("--as is missing: the user who submits the transaction, by name or id")
	}
	user, ok := file.User(c.user)
	if !ok {
		return user, usagef("--as %s: the organization has no such user", c.user)
	}
	return user, nil
}

// aboutRequest returns the policy and what it is asked about a request.
func (c *policyExplain) aboutRequest(cmd *cobra.Command, path, content string) (*policy.File, access.Authorization, error) {
	sent, err := parseRequestFile("standard input", []byte(content))
	if err != nil {
		return nil, access.Authorization{}, err
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return nil, access.Authorization{}, err
	}
	if c.kind != "" {
		return nil, access.Authorization{}, usagef("--type does not go with a request, which names its own")
	}
	if c.configFile == "" {
		return c.aboutIntent(path, request.Intent)
	}
	if c.user != "" || c.key != "" || len(c.tags) > 0 {
		return nil, access.Authorization{}, usagef("--as, --tag and --key do not go with a request and --config: the request names its user and its keys")
	}
	if c.organization == "" {
		c.organization = request.OrganizationID
	}
	file, err := c.load(path)
	if err != nil {
		return nil, access.Authorization{}, err
	}
	asked, err := c.judged(cmd, sent)
	return file, asked, err
}

// judged returns what serve would ask a policy about a request.
func (c *policyExplain) judged(cmd *cobra.Command, sent countersign.SignedBody) (asked access.Authorization, err error) {
	configured, organization, err := c.configured()
	if err != nil {
		return asked, err
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{*organization})
	if err != nil {
		return asked, fmt.Errorf("%s: %w", configured.Path, err)
	}
	known, err := readKnowledge(configured)
	if err != nil {
		return asked, err
	}
	at := keystoreFlags{organization: organization.ID}
	at.use(configured)
	keys, err := at.open(cmd)
	if err != nil {
		return asked, err
	}
	engine, err := countersign.New(countersign.Config{
		Chains:   all.Chains(all.Limits{}),
		Keystore: keys, Directory: directory, Descriptors: known.reader(), Now: func() time.Time { return c.now },
	})
	if err != nil {
		return asked, errors.Join(err, keys.Close())
	}
	asked, err = engine.AskedAboutRequest(cmd.Context(), sent)
	return asked, errors.Join(err, engine.Close())
}
