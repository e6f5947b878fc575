package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/policy"
)

// loadedPolicies are the policies of a configuration, with what it takes to read
// them anew.
type loadedPolicies struct {
	*policy.Organizations
	configured *config.Config
	keys       keystore.Keystore
}

// openPolicies reads the policies of the organizations; nil if none has one.
func openPolicies(ctx context.Context, configured *config.Config, keys keystore.Keystore) (*loadedPolicies, error) {
	files := map[string]*policy.File{}
	for i := range configured.Organizations {
		organization := &configured.Organizations[i]
		if organization.Policy == "" {
			continue
		}
		read, err := loadPolicy(ctx, organization, keys)
		if err != nil {
			return nil, fmt.Errorf("policy of organization %s: %w", organization.ID, err)
		}
		files[organization.ID] = read
	}
	if len(files) == 0 {
		return nil, nil
	}
	return &loadedPolicies{policy.NewOrganizations(files), configured, keys}, nil
}

// checkPolicies reads the policies without the keystore: the keys that they name
// are not looked for.
func checkPolicies(configured *config.Config) error {
	for i := range configured.Organizations {
		organization := &configured.Organizations[i]
		if organization.Policy == "" {
			continue
		}
		if _, err := policy.Load(organization.Policy, policy.Options{}); err != nil {
			return fmt.Errorf("policy of organization %s: %w", organization.ID, err)
		}
	}
	return nil
}

// loadPolicy reads the file of one organization, whose users and keys it may name.
func loadPolicy(ctx context.Context, organization *countersign.OrganizationConfig, keys keystore.Keystore) (*policy.File, error) {
	names, err := policyNames(ctx, organization, keys)
	if err != nil {
		return nil, err
	}
	return policy.Load(organization.Policy, policy.Options{Names: names})
}

// policyNames are the users and keys of an organization.
func policyNames(ctx context.Context, organization *countersign.OrganizationConfig, keys keystore.Keystore) (*policy.Names, error) {
	members, err := organization.Members()
	if err != nil {
		return nil, err
	}
	names := &policy.Names{Keys: []countersign.SigningKey{}}
	for i := range members {
		names.Credentials = append(names.Credentials, string(members[i].Credential.ID()), members[i].Credential.PublicKeyText())
		names.Users = append(names.Users, members[i].User)
	}
	names.Users = uniqueUsers(names.Users)
	for info, err := range keys.Keys(ctx, organization.ID) {
		if err != nil {
			return nil, err
		}
		names.Keys = append(names.Keys, countersign.SigningKey{ID: info.ID, Name: info.Name})
	}
	return names, nil
}

func uniqueUsers(users []countersign.User) []countersign.User {
	seen := map[string]bool{}
	var unique []countersign.User
	for _, user := range users {
		if !seen[user.ID] {
			seen[user.ID] = true
			unique = append(unique, user)
		}
	}
	return unique
}

// read reads every policy file that a configuration names, and changes nothing.
// The result replaces the current ones with replace.
func (p *loadedPolicies) read(ctx context.Context, configured *config.Config) (map[string]*policy.File, error) {
	files := map[string]*policy.File{}
	for i := range configured.Organizations {
		organization := &configured.Organizations[i]
		if organization.Policy == "" {
			continue
		}
		if p == nil || p.File(&countersign.Organization{ID: organization.ID}) == nil {
			return nil, fmt.Errorf("policy of organization %s: its first policy takes a restart", organization.ID)
		}
		read, err := loadPolicy(ctx, organization, p.keys)
		if err != nil {
			return nil, fmt.Errorf("policy of organization %s: %w", organization.ID, err)
		}
		files[organization.ID] = read
	}
	return files, nil
}

// replace puts files in force. A policy that the configuration no longer names
// stays in force until a restart.
func (p *loadedPolicies) replace(files map[string]*policy.File, configured *config.Config) {
	for organizationID, file := range files {
		p.Replace(organizationID, file)
	}
	if p != nil {
		p.configured = configured
	}
}

func (p *loadedPolicies) logFile(log *slog.Logger, organizationID string) {
	file := p.File(&countersign.Organization{ID: organizationID})
	log.Info("policy", "organization", organizationID, "file", file.Name(), "digest", file.DigestText(), "rules", len(file.Rules()))
	for _, warning := range file.Warnings() {
		log.Warn("policy", "organization", organizationID, "line", warning.Line, "rule", warning.Rule, "warning", warning.Message)
	}
}

// record appends the policies that are in force to the logs of their
// organizations.
func (p *loadedPolicies) record(ctx context.Context, engine *countersign.Engine) error {
	if p == nil {
		return nil
	}
	for i := range p.configured.Organizations {
		organization := &p.configured.Organizations[i]
		if organization.Policy == "" {
			continue
		}
		digest := p.File(&countersign.Organization{ID: organization.ID}).Digest()
		if err := engine.LogPolicy(ctx, organization.ID, digest); err != nil {
			return fmt.Errorf("log: policy of organization %s: %w", organization.ID, err)
		}
	}
	return nil
}

// log logs which policies are in force.
func (p *loadedPolicies) log(log *slog.Logger) {
	if p == nil {
		return
	}
	for i := range p.configured.Organizations {
		if p.configured.Organizations[i].Policy != "" {
			p.logFile(log, p.configured.Organizations[i].ID)
		}
	}
}
