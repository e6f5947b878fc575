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

// underPolicy puts the policy of the organization over an engine that signs without a
// stamp: it judges the user of --as, and the store of the configuration counts its
// limits and keeps the record. Without a policy it changes nothing.
func (c *signCommand) underPolicy(ctx context.Context, made *countersign.Config, keys keystore.Keystore) error {
	configured := c.at.configured
	at := slices.IndexFunc(configured.Organizations, func(one countersign.OrganizationConfig) bool { return one.ID == c.at.organization })
	if at < 0 || configured.Organizations[at].Policy == "" {
		if c.as != "" {
			return usagef("--as: organization %s has no policy that would judge a user", c.at.organization)
		}
		return nil
	}
	organization := &configured.Organizations[at]
	if len(c.allow) > 0 {
		return usagef("--allow does not go with a policy: name the hazard in the rule that covers the effect")
	}
	if configured.Store == config.MemoryStore {
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
	if made.Store, err = openStore(ctx, configured.Store); err != nil {
		return err
	}
	made.Policy, made.Log = file, !configured.Log.Off && !made.Store.Forgets()
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
