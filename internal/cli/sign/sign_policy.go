package sign

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/policy"
)

// TerminalUser is the id and the name of the user in the record of another wallet's
// request when --as names none: the person at the terminal.
const TerminalUser = "terminal"

// recorded sets up the engine to record what it signs without a stamp in the configured
// store. The record is for the user of --as, or for the person at the terminal if another
// wallet asks. The organization's policy judges that user. Without a policy and without
// a user nothing is recorded.
func (c *signCommand) recorded(ctx context.Context, settings *countersign.Config, keys keystore.Keystore) error {
	configured := c.at.Configured
	organization, err := configured.Organization(c.at.Organization)
	if err != nil {
		return console.Usagef("%v", err)
	}
	switch {
	case organization.Policy != "":
		err = c.underPolicy(ctx, settings, organization, keys)
	case c.as != "" && configured.Store == config.MemoryStore:
		return console.Usagef("--as: store: memory keeps no record of what a user has signed: use bolt:PATH")
	case c.as != "":
		settings.Submitter, err = c.submitter(ctx, organization, keys)
	case c.scan && configured.Store != config.MemoryStore:
		settings.Submitter = &access.User{ID: TerminalUser, Name: TerminalUser}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	opened, err := deployment.OpenRemembered(ctx, configured, false, 0, logger)
	if err != nil {
		return err
	}
	settings.Store, settings.Log = opened, !configured.Log.Off && !opened.Forgets()
	return nil
}

// underPolicy puts the engine under the organization's policy, which judges the user of
// --as.
func (c *signCommand) underPolicy(ctx context.Context, settings *countersign.Config, organization *access.OrganizationConfig, keys keystore.Keystore) (err error) {
	if len(c.allow) > 0 {
		return console.Usagef("--allow does not go with a policy: name the hazard in the rule that covers the effect")
	}
	if c.at.Configured.Store == config.MemoryStore {
		return errors.New("store: memory forgets what the policy's limits have counted: use bolt:PATH")
	}
	if settings.Submitter, err = c.submitter(ctx, organization, keys); err != nil {
		return err
	}
	file, err := deployment.LoadPolicy(ctx, organization, keys)
	if err != nil {
		return fmt.Errorf("policy of organization %s: %w", organization.ID, err)
	}
	settings.Policy = file
	return nil
}

// submitter finds the user of --as by name or id.
func (c *signCommand) submitter(ctx context.Context, organization *access.OrganizationConfig, keys keystore.Keystore) (*access.User, error) {
	names, err := policy.NamesOf(ctx, organization, keys)
	if err != nil {
		return nil, err
	}
	known := make([]string, len(names.Users))
	for i := range names.Users {
		user := &names.Users[i]
		if c.as != "" && (user.ID == c.as || user.Name == c.as) {
			return user, nil
		}
		known[i] = user.Name
	}
	if c.as == "" {
		return nil, console.Usagef("--as is missing: the organization has a policy, which judges users: %s", strings.Join(known, ", "))
	}
	return nil, console.Usagef("--as %s: the organization has no such user: use %s", c.as, strings.Join(known, ", "))
}
