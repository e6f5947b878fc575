package countersign

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// decide is step 5: it asks the policy, if there is one, and refuses hazards that
// neither the configuration, nor the organization, nor the rules that cover them
// allow. A plain Policy is asked only about hazards that are allowed.
//
// The ledger is not read for the first question: the charges are made in the
// transaction that takes the lease, or not at all. A Decider whose charges were
// over a limit there is asked again, with the ledger.
//
// What the decision needs votes for is left to the caller: see missing.
func (e *Engine) decide(ctx context.Context, by *caller, intent activity.Intent, task work, votes []Vote, spent SpentReader) (Decision, error) {
	readings := readingsOf(task)
	if e.config.Policy == nil {
		return Decision{Readings: readings.Digest()}, e.refuseHazards(intent, by.organization, task.hazards(), nil)
	}
	effects, keys, err := task.effects(ctx)
	if err != nil {
		return Decision{}, err
	}
	decision, err := e.decideAbout(ctx, Authorization{
		Organization: by.organization,
		User:         by.member.User,
		Credential:   by.member.Credential,
		Intent:       redacted(intent),
		Summary:      task.summary(),
		Hazards:      task.hazards(),
		Effects:      effects,
		Keys:         keys,
		Votes:        votes,
		Now:          e.config.Now(),
		Spent:        spent,
		Readings:     readings,
	})
	decision.Readings = readings.Digest()
	return decision, err
}

// readingsOf returns what descriptors say of a request; nil if nothing.
func readingsOf(task work) chains.Readings {
	if signing, ok := task.(*signing); ok {
		return signing.prepared.reading
	}
	return nil
}

// decideAbout asks the policy.
func (e *Engine) decideAbout(ctx context.Context, asked Authorization) (Decision, error) {
	decider, ok := e.config.Policy.(Decider)
	if !ok {
		if err := e.refuseHazards(asked.Intent, asked.Organization, asked.Hazards, nil); err != nil {
			return Decision{}, err
		}
		return Decision{}, e.authorize(ctx, asked)
	}
	all := asked.Hazards
	asked.Hazards = e.notAllowed(asked.Organization, all)
	decision, err := decider.Decide(ctx, asked)
	if err != nil {
		return Decision{}, e.refusePolicy(err)
	}
	if err := e.refuseHazards(asked.Intent, asked.Organization, all, decision.Hazards); err != nil {
		return Decision{}, err
	}
	return decision, nil
}

// refuseUncharged refuses what cannot be charged: no limit is ever left out.
func refuseUncharged(decision *Decision) error {
	if len(decision.Charges) == 0 {
		return nil
	}
	return activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
		"not authorized: limit %s is charged with the lease of a submitted request, which this call is not: use Submit", decision.Charges[0].Limit)
}

// refuseWaiting refuses what has to wait for approvals and cannot.
func refuseWaiting(groups []Approval, votes []Vote, submitter string, now time.Time) error {
	for i := range groups {
		group := &groups[i]
		if missing := group.Missing(votes, submitter, now); missing > 0 {
			return activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
				"not authorized: rule %s needs %d more approvals%s, for which only a submitted transaction can wait", group.Rule, missing, taggedText(group.Tag))
		}
	}
	return nil
}

func taggedText(tag string) string {
	if tag == "" {
		return ""
	}
	return fmt.Sprintf(" of users with the tag %s", tag)
}

// authorize asks a plain policy, if there is one.
func (e *Engine) authorize(ctx context.Context, asked Authorization) error {
	if e.config.Policy == nil {
		return nil
	}
	return e.refusePolicy(e.config.Policy.Authorize(ctx, asked))
}

// submitter is the user that a call without a stamp is judged as; nil if there
// is no policy.
func (e *Engine) submitter(ctx context.Context, organizationID string) (*User, error) {
	switch {
	case e.config.Policy == nil:
		return nil, nil
	case e.config.Submitter == nil:
		return nil, activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
			"not authorized: this engine has a Policy, which judges users, and the call has none: set Config.Submitter")
	}
	return e.config.Submitter, nil
}

// decideCall is step 5 of a call without a stamp. by is nil without a policy.
func (e *Engine) decideCall(ctx context.Context, organizationID string, by *User, intent activity.Intent, prepared *PreparedTransaction) error {
	organization, err := e.organizationOf(ctx, organizationID)
	if err != nil {
		return err
	}
	if by == nil {
		return e.refuseHazards(intent, organization, prepared.hazards, nil)
	}
	if organization == nil {
		organization = &Organization{ID: organizationID}
	}
	task := &signing{prepared: prepared}
	effects, keys, err := task.effects(ctx)
	if err != nil {
		return err
	}
	now := e.config.Now()
	votes := []Vote{{User: *by, At: now}}
	decision, err := e.decideAbout(ctx, Authorization{
		Organization: organization, User: *by, Intent: intent, Summary: task.summary(), Hazards: prepared.hazards,
		Effects: effects, Keys: keys, Votes: votes, Now: now, Readings: prepared.reading,
	})
	if err != nil {
		return err
	}
	if err := refuseWaiting(decision.Approvals, votes, by.ID, now); err != nil {
		return err
	}
	if err := refuseUncharged(&decision); err != nil {
		return err
	}
	decision.Readings = prepared.reading.Digest()
	prepared.decision = decision
	return nil
}
