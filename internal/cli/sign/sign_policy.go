package sign

import (
	"context"
	"errors"
	"fmt"
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
// a user nothing is recorded, and the user is nil.
func (c *signCommand) recorded(ctx context.Context, settings *countersign.Config, keys keystore.Keystore) (user *access.User, err error) {
	configured := c.at.Configured
	organization, err := configured.Organization(c.at.Organization)
	if err != nil {
		return nil, console.Usagef("%v", err)
	}
	switch {
	case organization.Policy != "":
		user, err = c.underPolicy(ctx, settings, organization, keys)
	case c.as != "" && configured.Store == config.MemoryStore:
		return nil, console.Usagef("--as: store: memory keeps no record of what a user has signed: use bolt:PATH")
	case c.as != "":
		user, err = c.submitter(ctx, organization, keys)
	case c.scan && configured.Store != config.MemoryStore:
		user = &access.User{ID: TerminalUser, Name: TerminalUser}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	opened, err := deployment.OpenRemembered(ctx, configured, false, 0, nil)
	if err != nil {
		return nil, err
	}
	if file, ok := settings.Policy.(*policy.File); ok {
		err := deployment.HoldBack(ctx, opened, organization.ID, organization.Policies.Widening.Approvals, nil, file)
		if err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	settings.Store, settings.Log = opened, !configured.Log.Off && !opened.Forgets()
	return user, nil
}

// underPolicy puts the engine under the organization's policy, which judges the user of
// --as.
func (c *signCommand) underPolicy(ctx context.Context, settings *countersign.Config,
	organization *access.OrganizationConfig, keys keystore.Keystore) (*access.User, error) {
	if len(c.allow) > 0 {
		return nil, console.Usagef("--allow does not go with a policy: name the hazard in the rule that covers the effect")
	}
	if c.at.Configured.Store == config.MemoryStore {
		return nil, errors.New("store: memory forgets what the policy's limits have counted: use bolt:PATH")
	}
	user, err := c.submitter(ctx, organization, keys)
	if err != nil {
		return nil, err
	}
	file, err := deployment.LoadPolicy(ctx, organization, keys, nil)
	if err != nil {
		return nil, fmt.Errorf("policy of organization %s: %w", organization.ID, err)
	}
	settings.Policy = file
	return user, nil
}

func (c *signCommand) submitter(ctx context.Context, organization *access.OrganizationConfig,
	keys keystore.Keystore) (*access.User, error) {
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
