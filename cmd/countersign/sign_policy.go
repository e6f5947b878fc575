package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/keystore"
)

// terminalUser is the id and name of the user in the record of another wallet's
// request: the person at the terminal, whom --as does not name.
const terminalUser = "terminal"

// recorded has what the engine signs without a stamp recorded in the store of the
// configuration: for the user of --as, and for the person at the terminal if another
// wallet asks. The policy of the organization judges that user; where it has none, and
// no user is named, nothing is recorded.
func (c *signCommand) recorded(ctx context.Context, made *countersign.Config, keys keystore.Keystore) error {
	configured := c.at.configured
	at := slices.IndexFunc(configured.Organizations, func(one countersign.OrganizationConfig) bool { return one.ID == c.at.organization })
	switch {
	case at >= 0 && configured.Organizations[at].Policy != "":
		if err := c.underPolicy(ctx, made, &configured.Organizations[at], keys); err != nil {
			return err
		}
	case c.as != "" && at < 0:
		return usagef("--as: the configuration has no organization %s, whose user it could name", c.at.organization)
	case c.as != "" && configured.Store == config.MemoryStore:
		return usagef("--as: store: memory keeps no record of what a user has signed: use bolt:PATH")
	case c.as != "":
		names, err := policyNames(ctx, &configured.Organizations[at], keys)
		if err != nil {
			return err
		}
		if made.Submitter, err = userNamed(names.Users, c.as); err != nil {
			return err
		}
	case c.scan && configured.Store != config.MemoryStore:
		made.Submitter = &countersign.User{ID: terminalUser, Name: terminalUser}
	default:
		return nil
	}
	var err error
	if made.Store, err = openStore(ctx, configured.Store); err != nil {
		return err
	}
	made.Log = !configured.Log.Off && !made.Store.Forgets()
	return nil
}

// underPolicy puts the policy of the organization over the engine: it judges the user
// of --as.
func (c *signCommand) underPolicy(ctx context.Context, made *countersign.Config, organization *countersign.OrganizationConfig, keys keystore.Keystore) error {
	if len(c.allow) > 0 {
		return usagef("--allow does not go with a policy: name the hazard in the rule that covers the effect")
	}
	if c.at.configured.Store == config.MemoryStore {
		return errors.New("store: memory forgets what the policy's limits have counted: use bolt:PATH")
	}
	names, err := policyNames(ctx, organization, keys)
	if err != nil {
		return err
	}
	if made.Submitter, err = userNamed(names.Users, c.as); err != nil {
		return err
	}
	file, err := loadPolicy(ctx, organization, keys)
	if err != nil {
		return fmt.Errorf("policy of organization %s: %w", organization.ID, err)
	}
	made.Policy = file
	return nil
}

// userNamed finds the user of --as by name or id.
func userNamed(users []countersign.User, named string) (*countersign.User, error) {
	known := make([]string, len(users))
	for i := range users {
		if named != "" && (users[i].ID == named || users[i].Name == named) {
			return &users[i], nil
		}
		known[i] = users[i].Name
	}
	if named == "" {
		return nil, usagef("--as is missing: the organization has a policy, which judges users: %s", strings.Join(known, ", "))
	}
	return nil, usagef("--as %s: the organization has no such user: use %s", named, strings.Join(known, ", "))
}
