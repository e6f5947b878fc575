package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

type policyExplain struct {
	policyFlags
	kind, user, key, at string
	message             show.MessageFlags // asked about instead of a transaction
	signWith            string
	named               bool // signWith may be the name of a key
	tags                []string
	index               int // of the transaction in a list; -1: it is in none
	output              console.OutputFlag
	now                 time.Time // of --at

	file      *policy.File
	knowledge *deployment.Knowledge
}

func newPolicyExplainCommand() *cobra.Command {
	var c policyExplain
	command := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "Say what a policy decides about a transaction, message or request, and why",
		Long: console.Paragraphs(`
Print what the policy decides and, for every rule, whether it matched or which of its
clauses failed first, with the values it compared. Nothing is signed, and no limit is
charged: limits count as unused. The exit status is 0 whatever the decision.

Standard input is a request, as 'countersign request' and 'countersign stamp' print it,
or an unsigned transaction in hex (a PSBT also in base64 or binary, a
Solana transaction or its message also in base64 or base58), or with --message KIND a
message, written as for 'countersign sign --message'. What is said below of a transaction
applies to a message too.

With --config a request is judged as serve would judge it now: its stamp names the user,
and its keys are looked up, for which the keystore is opened. Only its age is not
checked.

With --config and --key (or --sign-with, which is the same) a transaction is judged as
'countersign sign --config' would judge it now for the user of --as: the keystore is opened,
which says what is change and which accounts are the organization's.

Otherwise only the bytes of a transaction are known: --as, --tag and --key say who
submits it and which key signs. The keystore is not read. Without --key, rules that name
keys do not match, and limits per key or wallet cannot count. Whether a recipient is the
organization's (effect.mine) is then unknown, and what comes back to the wallet that
pays counts as a payment. Calls are read with the descriptors of --config.`),
		Example: console.Paragraphs(`
  countersign policy explain --config countersign.yaml < request.json
  countersign policy explain --config countersign.yaml --as payments --sign-with 0x97cC… \
      --type TRANSACTION_TYPE_ETHEREUM < transaction.hex
  countersign policy explain --config countersign.yaml --as payments --sign-with 0x97cC… \
      --message eip712 < permit.json`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	c.register(command)
	set := command.Flags()
	set.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+show.TypeNames())
	c.message.Register(command, "ask about a message of `KIND`")
	set.StringVar(&c.user, "as", "", "`USER` who submits it, by name or id")
	set.StringSliceVar(&c.tags, "tag", nil, "`TAG` of the user, without --config")
	set.StringVar(&c.key, "key", "", "`KEY` that would sign, by name or id; with --config, the keystore is opened")
	set.StringVar(&c.signWith, "sign-with", "", "`ADDRESS` or id of the key, as for sign: with --config, the keystore is opened")
	set.IntVar(&c.index, "index", -1, "`INDEX` of the transaction in a list, from 0: each is judged alone")
	set.StringVar(&c.at, "at", "", "`TIME` of the request, such as 2026-11-23T09:00:00Z (default: now)")
	c.output.RegisterReading(command)
	return command
}

func (c *policyExplain) run(cmd *cobra.Command, path string) (err error) {
	c.now = time.Now()
	if c.at != "" {
		if c.now, err = time.Parse(time.RFC3339, c.at); err != nil {
			return console.Usagef("--at: use a time such as 2026-11-23T09:00:00Z")
		}
	}
	if c.knowledge, err = deployment.KnowledgeOf(c.configFile); err != nil {
		return err
	}
	authorization, err := c.ask(cmd, path)
	if err != nil {
		return err
	}
	explanation, err := c.file.ExplainNamed(cmd.Context(), authorization, c.knowledge.Names())
	if err != nil {
		return err
	}
	if judged := authorization.Credential != nil || c.signWith != ""; !judged && c.key == "" && explanation.Decision == "deny" {
		fmt.Fprintln(cmd.ErrOrStderr(), "No --key was given: rules that name keys, and limits per key or wallet, cannot allow anything.")
		if c.configFile != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "With --sign-with the keystore is asked, as sign does.")
		}
	}
	if !c.output.IsText() {
		return console.PrintJSON(cmd.OutOrStdout(), explanation)
	}
	_, err = cmd.OutOrStdout().Write([]byte(explanation.String()))
	return err
}

// ask reads the policy, and returns what it is asked about what is on standard input.
func (c *policyExplain) ask(cmd *cobra.Command, path string) (asked access.Authorization, err error) {
	if c.message.Kind != "" {
		c.useKey()
		intent, err := c.message.Read(cmd, c.signWith)
		if err != nil {
			return asked, err
		}
		return c.aboutCall(cmd, path, intent)
	}
	content, err := show.ReadTransaction(cmd)
	if err != nil {
		return asked, err
	}
	if strings.HasPrefix(content, "{") {
		return c.aboutRequest(cmd, path, content)
	}
	c.useKey()
	kind, err := show.ParseType(c.kind)
	if err != nil {
		return asked, err
	}
	unsigned, err := show.DecodeAs(kind, content)
	if err != nil {
		return asked, err
	}
	return c.aboutCall(cmd, path, activity.SignTransactionIntent{Type: kind, UnsignedTransaction: unsigned.Text, SignWith: c.signWith})
}

// useKey takes --key for --sign-with if the keystore is known: it may then be a name.
func (c *policyExplain) useKey() {
	if c.configFile != "" && c.key != "" && c.signWith == "" {
		c.signWith, c.key, c.named = c.key, "", true
	}
}

// aboutCall reads the policy, and returns what it is asked about a transaction or a message: with --sign-with,
// what sign would ask.
func (c *policyExplain) aboutCall(cmd *cobra.Command, path string, intent activity.Intent) (asked access.Authorization, err error) {
	if _, err := show.Listed(intent, c.index); err != nil {
		return asked, err
	}
	if c.signWith == "" {
		return c.aboutIntent(path, intent)
	}
	switch {
	case c.configFile == "":
		return asked, console.Usagef("--sign-with needs --config, which names the keystore")
	case c.key != "" || len(c.tags) > 0:
		return asked, console.Usagef("--key and --tag do not go with --sign-with: the keystore and the configuration say what they are")
	}
	if c.file, err = c.load(path); err != nil {
		return asked, err
	}
	user, err := c.configuredUser()
	if err != nil {
		return asked, err
	}
	engine, organization, err := c.engine(cmd)
	if err != nil {
		return asked, err
	}
	signed := show.WithSigner(intent, c.signWith) // the id of the key, if it was named
	parts, err := engine.Operator().AskedAboutCall(cmd.Context(), user, organization.ID, signed)
	return c.listed(parts), errors.Join(err, engine.Close())
}

// listed returns what is asked about the transaction that --index names; zero after an error.
func (c *policyExplain) listed(asked []access.Authorization) (of access.Authorization) {
	if len(asked) > 0 {
		of = asked[max(c.index, 0)]
	}
	return of
}

// aboutIntent reads the policy, and returns what it is asked about an intent, of which only the
// bytes are known.
func (c *policyExplain) aboutIntent(path string, intent activity.Intent) (asked access.Authorization, err error) {
	if c.file, err = c.load(path); err != nil {
		return asked, err
	}
	asked = access.Authorization{User: access.User{ID: c.user, Name: c.user, Tags: c.tags}, Intent: intent, Now: c.now}
	if c.configFile != "" {
		if asked.User, err = c.configuredUser(); err != nil {
			return asked, err
		}
	}
	asked.Votes = []access.Vote{{User: asked.User, At: c.now}}
	if c.key != "" {
		asked.Keys = []access.SigningKey{{ID: c.key, Name: c.key}}
	}
	inspection, err := all.InspectIntent(intent, all.Limits{})
	if err != nil {
		return asked, err
	}
	inspection = inspection.ReadWith(c.knowledge.Reader())
	asked.Chain, asked.Effects = inspection.Summary.Chain, inspection.Effects
	asked.Summary = func() *chains.Summary { return &inspection.Summary }
	asked.Hazards, asked.Readings = inspection.Hazards, inspection.Readings
	if c.configFile == "" {
		return asked, nil
	}
	_, organization, err := deployment.ReadConfig(c.configFile, c.organization)
	if err != nil {
		return asked, err
	}
	asked.Hazards = slices.DeleteFunc(asked.Hazards, // a policy is not asked about those that are allowed
		func(hazard chains.Hazard) bool { return slices.Contains(organization.AllowHazards, hazard.Name) })
	return asked, nil
}

func (c *policyExplain) configuredUser() (access.User, error) {
	if c.user == "" {
		return access.User{}, console.Usagef("--as is missing: the user who submits the transaction, by name or id")
	}
	user, ok := c.file.User(c.user)
	if !ok {
		return user, console.Usagef("--as %s: the organization has no such user", c.user)
	}
	return user, nil
}

// aboutRequest reads the policy, and returns what it is asked about a request: with --config, what serve would ask.
func (c *policyExplain) aboutRequest(cmd *cobra.Command, path, content string) (asked access.Authorization, err error) {
	sent, err := show.ParseRequestFile("standard input", []byte(content))
	if err != nil {
		return asked, err
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return asked, err
	}
	if c.kind != "" {
		return asked, console.Usagef("--type does not go with a request, which names its own")
	}
	alone, err := show.Listed(request.Intent, c.index)
	if err != nil {
		return asked, err
	}
	if c.configFile == "" {
		return c.aboutIntent(path, alone)
	}
	if c.signWith != "" {
		return asked, console.Usagef("--sign-with does not go with a request, which names its own key")
	}
	if c.user != "" || c.key != "" || len(c.tags) > 0 {
		return asked, console.Usagef("--as, --tag and --key do not go with a request and --config: the request names its user and its keys")
	}
	c.organization = cmp.Or(c.organization, request.OrganizationID)
	if c.file, err = c.load(path); err != nil {
		return asked, err
	}
	engine, _, err := c.engine(cmd)
	if err != nil {
		return asked, err
	}
	parts, err := engine.Operator().AskedAboutRequest(cmd.Context(), sent)
	return c.listed(parts), errors.Join(err, engine.Close())
}

// engine opens the configured keystore for an engine that signs nothing.
func (c *policyExplain) engine(cmd *cobra.Command) (*countersign.Engine, *access.OrganizationConfig, error) {
	configured, organization, err := deployment.ReadConfig(c.configFile, c.organization)
	if err != nil {
		return nil, nil, err
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{*organization})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", configured.Path, err)
	}
	flags := deployment.KeystoreFlags{Organization: organization.ID}
	flags.Use(configured)
	keys, err := flags.Open(cmd)
	if err != nil {
		return nil, nil, err
	}
	if c.named {
		if err := c.keyOf(cmd.Context(), keys, organization.ID); err != nil {
			return nil, nil, errors.Join(err, keys.Close())
		}
	}
	wallets, err := deployment.Wallets(configured, keys)
	if err != nil {
		return nil, nil, errors.Join(err, keys.Close())
	}
	engine, err := countersign.New(countersign.Config{
		Chains: all.Chains(all.Limits{}), Operations: messages.Operations(all.Chains(all.Limits{})...), Keystore: keys, Wallets: wallets,
		Directory: directory, Descriptors: c.knowledge.Reader(), Now: func() time.Time { return c.now },
	})
	if err != nil {
		return nil, nil, errors.Join(err, keys.Close())
	}
	return engine, organization, nil
}

func (c *policyExplain) keyOf(ctx context.Context, keys keystore.Keystore, organizationID string) error {
	id := ""
	for info, err := range keys.Keys(ctx, organizationID) {
		switch {
		case err != nil:
			return err
		case info.Name == c.signWith && id != "":
			return console.Usagef("--key %s: several keys have this name: use an id", c.signWith)
		case info.Name == c.signWith:
			id = info.ID
		}
	}
	c.signWith = cmp.Or(id, c.signWith)
	return nil
}
