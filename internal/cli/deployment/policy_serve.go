package deployment

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// LoadedPolicies are the policies in force. A nil *LoadedPolicies has none.
type LoadedPolicies struct {
	*policy.Organizations
	Configured *config.Config
}

// WithPolicy yields the organizations that have a policy.
func WithPolicy(configured *config.Config) iter.Seq[*access.OrganizationConfig] {
	return func(yield func(*access.OrganizationConfig) bool) {
		for i := range configured.Organizations {
			if configured.Organizations[i].Policy != "" && !yield(&configured.Organizations[i]) {
				return
			}
		}
	}
}

// readPolicies reads the policy of each organization that has one, by organization id.
// Without the keystore the names of keys in them are not checked.
// What has not changed is taken from running, which may be nil.
func readPolicies(ctx context.Context, configured *config.Config, keys keystore.Keystore,
	running *Loaded) (map[string]*policy.File, error) {
	files := map[string]*policy.File{}
	for i := range configured.Organizations {
		organization := &configured.Organizations[i]
		if organization.Policy == "" {
			continue
		}
		if ctx.Err() != nil {
			return nil, terminal.ErrInterrupted
		}
		file, err := LoadPolicy(ctx, organization, keys, running.policyOf(organization.ID))
		if err != nil {
			err = fmt.Errorf("policy of organization %s: %w", organization.ID, err)
			if !errors.As(err, new(*policy.Error)) {
				err = configured.At(fmt.Sprintf("organizations[%d].policy", i), err)
			}
			return nil, err
		}
		files[organization.ID] = file
	}
	return files, nil
}

// doubles warns of names that several keys of an organization with a policy have.
func doubles(ctx context.Context, configured *config.Config, keys keystore.Keystore) (warnings []string, err error) {
	if keys == nil {
		return nil, nil
	}
	for organization := range WithPolicy(configured) {
		named := map[string]int{}
		for info, err := range keys.Keys(ctx, organization.ID) {
			if err != nil {
				return nil, err
			}
			named[info.Name]++
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if named[name] > 1 && name != "" {
				warnings = append(warnings,
					fmt.Sprintf("organization %s: %d keys are called %s: no rule can name them, and 'countersign "+
						"keys rename' tells them apart", organization.ID, named[name], name))
			}
		}
	}
	return warnings, nil
}

// LoadPolicy reads the policy of one organization, and checks the names of users and keys in
// it. It returns the previous file, which may be nil, if nothing has changed.
func LoadPolicy(ctx context.Context, organization *access.OrganizationConfig, keys keystore.Keystore,
	previous *policy.File) (*policy.File, error) {
	names, err := policy.NamesOf(ctx, organization, keys)
	if err != nil {
		return nil, err
	}
	options := PolicyOptions(names)
	options.Previous = previous
	return policy.Load(organization.Policy, options)
}

// PolicyOptions are the options of a file about all chains and messages.
func PolicyOptions(names *policy.Names) policy.Options {
	return policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...), Names: names}
}

// policyOf returns the policy of an organization, nil if there is none.
func (l *Loaded) policyOf(organizationID string) *policy.File {
	if l == nil {
		return nil
	}
	return l.Policies[organizationID]
}

// inForce returns the policy of an organization: nil if there is none, or only one that denies
// everything because its file is held back since the start.
func (p *LoadedPolicies) inForce(organizationID string) *policy.File {
	if file := p.File(&access.Organization{ID: organizationID}); file != nil && file.Name() != "" {
		return file
	}
	return nil
}

// closed reports whether the error of a log says that it does not grow at the moment: it has a
// conflict, or its organization has moved.
func closed(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrMoved)
}

// Record appends the policies in force to the logs of their organizations. A log that has a
// conflict gets its policy when the conflict is accepted.
func (p *LoadedPolicies) Record(ctx context.Context, engine *countersign.Engine) error {
	if p == nil {
		return nil
	}
	for organization := range WithPolicy(p.Configured) {
		if err := p.RecordOne(ctx, engine, organization.ID); err != nil && !closed(err) {
			return err
		}
	}
	return nil
}

// RecordOne appends the policy in force of an organization, if it has one, to its log.
func (p *LoadedPolicies) RecordOne(ctx context.Context, engine *countersign.Engine, organizationID string) error {
	if p == nil {
		return nil
	}
	file := p.inForce(organizationID)
	if file == nil {
		return nil
	}
	if err := engine.Operator().LogPolicy(ctx, organizationID, file.Digest()); err != nil {
		return fmt.Errorf("log: policy of organization %s: %w", organizationID, err)
	}
	return nil
}

// Assign puts the stores of organizations in force, and refuses policies that are held back in them.
func (p *LoadedPolicies) Assign(ctx context.Context, opened store.Full, first *config.Config, old, next *Loaded) error {
	if err := AssignStores(ctx, opened, first, next.Configured); err != nil {
		return err
	}
	err := p.HoldBack(ctx, opened, old, next, nil)
	if err != nil {
		err = errors.Join(err, AssignStores(ctx, opened, first, old.Configured))
	}
	return err
}

// HoldBack refuses the policies of next that allow more than those in force, or may, unless as many
// users asked for them as either configuration says. It reads nothing that a reload replaces: one that
// was given up may still be here. At a start, without old, an organization whose policy is held back is
// denied everything, and no other is, if there is a logger: its users can then ask for the policy.
func (p *LoadedPolicies) HoldBack(ctx context.Context, log store.Log, old, next *Loaded, logger *slog.Logger) error {
	for organization := range WithPolicy(next.Configured) {
		id, needed := organization.ID, organization.Policies.Widening.Approvals
		var before *policy.File
		if old != nil {
			before = p.inForce(id)
			if was, err := old.Configured.Organization(id); err == nil {
				needed = max(needed, was.Policies.Widening.Approvals)
			}
		}
		err := HoldBack(ctx, log, id, needed, before, next.Policies[id])
		if held, is := errors.AsType[*heldBack](err); is && old == nil && logger != nil {
			p.Put(map[string]*policy.File{id: nil})
			logger.ErrorContext(ctx, "the organization is denied everything", "organization", id, "cause", held.Error())
		} else if err != nil {
			return err
		}
	}
	return nil
}

// heldBack is the refusal of a policy.
type heldBack struct{ error }

// HoldBack refuses a policy that allows more than the one before, or may, unless users asked for it,
// of whom so many are needed. At a start none is before, nil: then it refuses all but the one that
// was asked for last, if any was.
func HoldBack(ctx context.Context, log store.Log, organizationID string, needed int, before, file *policy.File) error {
	if needed == 0 || before != nil && before.Digest() == file.Digest() {
		return nil
	}
	head, err := log.LogHead(ctx, organizationID)
	if err != nil {
		return err
	}
	askedFor := func(stop translog.Stop) bool { return !stop.Halts() && !stop.Held() }
	this := func(stop translog.Stop) bool { return stop.Subject == translog.PolicySubject(file.DigestText()) }
	switch {
	case slices.ContainsFunc(head.Stops, this):
	case before == nil && !slices.ContainsFunc(head.Stops, askedFor):
	case before != nil && !file.Since(before).MayWiden():
	default:
		return &heldBack{fmt.Errorf("organization %s: the policy %s is held back: it allows more than the one before, "+
			"or may, and %d users have to ask for it: 'countersign resume --policy %[2]s'",
			organizationID, file.Name(), needed)}
	}
	return nil
}

// Log logs the policies in force and their warnings, except those that were in force before:
// before may be nil.
func (p *LoadedPolicies) Log(log *slog.Logger, before *Loaded) {
	if p == nil {
		return
	}
	for organization := range WithPolicy(p.Configured) {
		file := p.inForce(organization.ID)
		if file == nil || file == before.policyOf(organization.ID) {
			continue
		}
		log.Info("policy", "organization", organization.ID, "file", file.Name(), "digest", file.DigestText(), "rules", len(file.Rules()))
		if prices := file.PricesText(); prices != "" {
			log.Info("prices", "organization", organization.ID, "in", prices)
		}
		for _, warning := range file.Warnings() {
			log.Warn("policy", "organization", organization.ID, "line", warning.Line, "rule", warning.Rule, "warning", warning.Message)
		}
	}
}
