package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

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

// reload reads every file anew. One that is wrong leaves the old one in place.
func (p *loadedPolicies) reload(ctx context.Context, log *slog.Logger) {
	for i := range p.configured.Organizations {
		organization := &p.configured.Organizations[i]
		if organization.Policy == "" {
			continue
		}
		read, err := loadPolicy(ctx, organization, p.keys)
		if err != nil {
			log.Error("the policy was not reloaded: the old one stays", "organization", organization.ID, "cause", err.Error())
			continue
		}
		p.Replace(organization.ID, read)
		p.logFile(log, organization.ID)
	}
}

func (p *loadedPolicies) logFile(log *slog.Logger, organizationID string) {
	file := p.File(&countersign.Organization{ID: organizationID})
	log.Info("policy", "organization", organizationID, "file", file.Name(), "digest", file.DigestText(), "rules", len(file.Rules()))
	for _, warning := range file.Warnings() {
		log.Warn("policy", "organization", organizationID, "line", warning.Line, "rule", warning.Rule, "warning", warning.Message)
	}
}

// reloadOnHangup reads the files anew on each SIGHUP, until the function that it
// returns is called.
func (p *loadedPolicies) reloadOnHangup(ctx context.Context, log *slog.Logger) func() {
	if p == nil {
		return func() {}
	}
	for i := range p.configured.Organizations {
		if p.configured.Organizations[i].Policy != "" {
			p.logFile(log, p.configured.Organizations[i].ID)
		}
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				p.reload(ctx, log)
			}
		}
	}()
	return func() { signal.Stop(hangups); stop(); <-done }
}
