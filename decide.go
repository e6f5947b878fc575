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
		return Decision{Readings: readings.Digest(), ReadWith: readings.Sources()}, e.refuseHazards(intent, by.organization, task.hazards(), nil)
	}
	asked, err := e.asked(ctx, by, intent, task)
	if err != nil {
		return Decision{}, err
	}
	asked.Votes, asked.Spent = votes, spent
	decision, err := e.decideAbout(ctx, asked)
	decision.Readings, decision.ReadWith = readings.Digest(), readings.Sources()
	return decision, err
}

// asked is what a policy is asked about some work, without votes and ledger.
func (e *Engine) asked(ctx context.Context, by *caller, intent activity.Intent, task work) (Authorization, error) {
	effects, keys, err := task.effects(ctx)
	return Authorization{
		Organization: by.organization,
		User:         by.member.User,
		Credential:   by.member.Credential,
		Intent:       redacted(intent),
		Summary:      task.summary(),
		Hazards:      task.hazards(),
		Effects:      effects,
		Keys:         keys,
		Now:          e.config.Now(),
		Readings:     readingsOf(task),
	}, err
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

// checkSubmitter refuses a call without a stamp if there is a policy, and no user
// that the call is judged as.
func (e *Engine) checkSubmitter() error {
	if e.config.Policy == nil || e.config.Submitter != nil {
		return nil
	}
	return activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
		"not authorized: this engine has a Policy, which judges users, and the call has none: set Config.Submitter")
}

// decideCall is step 5 of a call without a stamp. What has a submitter is decided
// anew when it is signed, and recorded: see call. spent is as in decide.
func (e *Engine) decideCall(ctx context.Context, organizationID string, intent activity.Intent, prepared *PreparedTransaction, spent SpentReader) error {
	if err := e.checkSubmitter(); err != nil || e.config.Submitter == nil && len(prepared.hazards) == 0 {
		return err
	}
	organization, err := e.organizationOf(ctx, organizationID)
	if err != nil {
		return err
	}
	if e.config.Submitter == nil {
		return e.refuseHazards(intent, organization, prepared.hazards, nil)
	}
	by, task, now := e.localCaller(organization, organizationID), &signing{prepared: prepared}, e.config.Now()
	votes := by.votes(now)
	decision, err := e.decide(ctx, by, intent, task, votes, spent)
	if err != nil {
		return err
	}
	if err := refuseWaiting(decision.Approvals, votes, by.member.User.ID, now); err != nil {
		return err
	}
	if err := e.refuseUncharged(decision.Charges); err != nil {
		return err
	}
	by.decision = decision
	prepared.call = e.callOf(by, intent)
	return nil
}
