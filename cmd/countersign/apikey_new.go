package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
)

func newAPIKeyCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "apikey",
		Short: "Create API keys",
		Long:  "Create API keys: the key pairs with which clients stamp their requests.",
		Args:  commandOnly,
		RunE:  chooseCommand,
	}
	command.AddCommand(newAPIKeyNewCommand())
	return command
}

// apiKeyNewCommand is one call of apikey new.
type apiKeyNewCommand struct {
	name, organization, out, expires, curve, config string
	known                                           bool // the configuration has the user

	tags  []string // of the user
	votes bool     // the key votes, and does nothing else
}

func newAPIKeyNewCommand() *cobra.Command {
	var c apiKeyNewCommand
	command := &cobra.Command{
		Use:   "new",
		Short: "Make an API key for a user",
		Long: paragraphs(`
Make an API key. The key goes to a new file (mode 0600) for the client.
Standard output gets the lines for the configuration, to stand under "users:" of
the organization; a running server re-reads them on SIGHUP. With --config, the
organization need not be named if there is one, and for a user who is there already
only the line of the key is printed, to stand under the user's "apiKeys:". To replace
a key: add the new one, reload, have the client use it, remove the old one, reload.

--votes is for a key that approves and rejects, and submits nothing: a key that is
registered without a list of activities may not vote.`),
		Example: paragraphs(`
  countersign apikey new --name ci --org 6e1f8f5e-1111-4222-8333-444455556666 --out ci.json --expires 90d
  countersign apikey new --name ci --config countersign.yaml --out ci-next.json`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := command.Flags()
	flags.StringVar(&c.name, "name", "", "`NAME` of the user")
	flags.StringVar(&c.organization, "org", "", "`ID` of the organization, as in the configuration")
	flags.StringVar(&c.config, "config", "", "`FILE` that has the organization, and perhaps the user: countersign.yaml")
	flags.StringVar(&c.out, "out", "", "new `FILE` for the key")
	flags.StringVar(&c.curve, "curve", "p256", "`KIND` of key: p256, secp256k1 or ed25519")
	flags.StringSliceVar(&c.tags, "tag", nil, "`TAG` of the user, which policies ask for; can be repeated")
	flags.BoolVar(&c.votes, "votes", false, "a key that votes on what waits for approvals, and does nothing else")
	flags.StringVar(&c.expires, "expires", "", "`TIME` that the key is accepted for, such as 90d or 12h (default: for ever)")
	return command
}

func (c *apiKeyNewCommand) run(cmd *cobra.Command) error {
	switch {
	case c.name == "":
		return usagef("--name is missing: the name of the user")
	case c.organization == "" && c.config == "":
		return usagef("--org is missing: the id of the organization, or --config with the file that has it")
	case c.out == "":
		return usagef("--out is missing: a new file for the key")
	}
	curve, err := parseAPIKeyCurve(c.curve)
	if err != nil {
		return err
	}
	if err := c.lookUp(); err != nil {
		return err
	}
	if c.known && len(c.tags) > 0 {
		return usagef("--tag: user %q is in %s: give the user the tags there", c.name, c.config)
	}
	expiry := ""
	if c.expires != "" {
		after, err := parseDays(c.expires)
		if err != nil {
			return err
		}
		expiry = ", expiresAt: " + time.Now().Add(after).UTC().Format(time.RFC3339)
	}
	if err := harden.NoCoreDumps(); err != nil {
		return err
	}
	key, err := newAPIKey(c.organization, curve)
	if err != nil {
		return err
	}
	if err := writeNew(c.out, append(jsonLine(key), '\n')); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	tags, activities := "", ""
	if len(c.tags) > 0 {
		tags = "        tags: " + string(jsonLine(c.tags)) + "\n"
	}
	if c.votes {
		activities = fmt.Sprintf(", activities: [%s, %s]", activity.TypeApproveActivity, activity.TypeRejectActivity)
	}
	line := fmt.Sprintf("          - {curve: %s, publicKey: %q%s%s}\n", key.Curve, key.PublicKey, activities, expiry)
	if !c.known {
		line = fmt.Sprintf("      - name: %s\n%s        apiKeys:\n%s", jsonLine(c.name), tags, line)
	} else {
		fmt.Fprintf(cmd.ErrOrStderr(), "User %q is in %s: put this line under its apiKeys.\n", c.name, c.config)
	}
	_, err = cmd.OutOrStdout().Write([]byte(line))
	return err
}

// lookUp takes the organization from the configuration, if one is named, and looks
// whether it has the user: a second entry of one name would be refused at the reload.
func (c *apiKeyNewCommand) lookUp() error {
	if c.config == "" {
		return nil
	}
	configured, err := config.Read(c.config)
	if err != nil {
		return err
	}
	organization, err := configured.Organization(c.organization)
	if err != nil {
		return usagef("%v", err)
	}
	c.organization = organization.ID
	c.known = slices.ContainsFunc(organization.Users, func(user countersign.UserConfig) bool { return user.Name == c.name })
	return nil
}

// parseDays reads a duration of Go, or a number of days such as 90d.
func parseDays(text string) (time.Duration, error) {
	const longest = 100 * 365 // days
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= longest {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if after, err := time.ParseDuration(text); err == nil && after > 0 {
		return after, nil
	}
	return 0, usagef("--expires %q: a time such as 90d or 12h is expected", text)
}
