package countersign

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// decide is step 5: it asks the policy, with the caller's own vote as the only one. A
// transaction that needs more votes waits for them; what cannot wait is refused.
//
// spent is nil when a request is decided for the first time: the ledger is not read
// then, since the charges are made in the transaction that takes the lease, or not at
// all. A Decider whose charges exceeded a limit there is asked again with the ledger.
func (e *Engine) decide(ctx context.Context, s *submission, spent access.SpentReader) error {
	now := e.config.Now()
	votes := s.ownVote(now)
	decision, err := e.ask(ctx, s, votes, spent)
	if err != nil {
		return err
	}
	refused := refuseWaiting(withAges(decision.Approvals), votes, s.caller.member.User.ID, now)
	if refused != nil {
		if _, signs := s.task.(*prepared); !signs || s.caller.stamp == nil || len(decision.Rules) == 0 {
			return refused
		}
	}
	s.decision, s.waits = decision, refused != nil
	return nil
}

// ownVote returns the approval that a submission is of itself.
func (s *submission) ownVote(now time.Time) []access.Vote {
	return []access.Vote{{User: s.caller.member.User, Credential: s.caller.member.Credential, At: now}}
}

// ask asks the policy, if there is one, and refuses hazards that neither the
// configuration, nor the organization, nor the rules that cover them allow. A plain
// Policy is asked only about hazards that are allowed.
func (e *Engine) ask(ctx context.Context, s *submission, votes []access.Vote, spent access.SpentReader) (access.Decision, error) {
	readings := readingsOf(s.task)
	if e.config.Policy == nil {
		return access.Decision{Readings: readings.Digest(), ReadWith: readings.Sources()}, e.refuseHazards(s.intent, s.caller.organization, s.task.Hazards(), nil)
	}
	authorization, err := e.authorization(ctx, s)
	if err != nil {
		return access.Decision{}, err
	}
	authorization.Votes, authorization.Spent = votes, spent
	decision, err := e.askPolicy(ctx, authorization)
	decision.Readings, decision.ReadWith = readings.Digest(), readings.Sources()
	return decision, err
}

// authorization returns what a policy is asked about a submission, without votes and
// ledger.
func (e *Engine) authorization(ctx context.Context, s *submission) (access.Authorization, error) {
	effects, keys, err := s.task.Effects(ctx)
	return access.Authorization{
		Organization: s.caller.organization,
		User:         s.caller.member.User,
		Credential:   s.caller.member.Credential,
		Intent:       redacted(s.intent),
		Summary:      s.task.Summary(),
		Hazards:      s.task.Hazards(),
		Effects:      effects,
		Keys:         keys,
		Now:          e.config.Now(),
		Readings:     readingsOf(s.task),
	}, err
}

// redacted returns an intent without the secrets in it.
func redacted(intent activity.Intent) activity.Intent {
	if secret, ok := intent.(activity.Redacter); ok {
		return secret.Redacted()
	}
	return intent
}

// readingsOf returns what descriptors say of a task, or nil.
func readingsOf(task operation.Task) chains.Readings {
	if p, ok := task.(*prepared); ok {
		return p.reading
	}
	return nil
}

func (e *Engine) askPolicy(ctx context.Context, authorization access.Authorization) (access.Decision, error) {
	hazards := authorization.Hazards
	decider, ok := e.config.Policy.(access.Decider)
	if !ok {
		if err := e.refuseHazards(authorization.Intent, authorization.Organization, hazards, nil); err != nil {
			return access.Decision{}, err
		}
		return access.Decision{}, e.refusePolicy(e.config.Policy.Authorize(ctx, authorization))
	}
	authorization.Hazards = e.notAllowed(authorization.Organization, hazards)
	decision, err := decider.Decide(ctx, authorization)
	if err != nil {
		return access.Decision{}, e.refusePolicy(err)
	}
	if err := e.refuseHazards(authorization.Intent, authorization.Organization, hazards, decision.Hazards); err != nil {
		return access.Decision{}, err
	}
	return decision, nil
}

// refuseWaiting returns the refusal of a request that needs approvals and cannot wait
// for them, or nil if it has all its votes.
func refuseWaiting(groups []access.Group, votes []access.Vote, submitter string, now time.Time) error {
	for i := range groups {
		group := &groups[i]
		if missing := access.Missing(group, votes, submitter, now); missing > 0 {
			tagged := ""
			if group.Tag != "" {
				tagged = fmt.Sprintf(" of users with the tag %s", group.Tag)
			}
			return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
				"not authorized: rule %s needs more approvals%s (%d missing), for which only a submitted transaction can wait", group.Rule, tagged, missing)
		}
	}
	return nil
}

// allowance is a set of hazards that may be signed.
type allowance struct {
	all   bool
	names []string
}

func newAllowance(names, known []string) (allowance, error) {
	allowed := allowance{names: slices.Clone(names)}
	for _, name := range names {
		switch {
		case name == AllHazards:
			allowed.all = true
		case !slices.Contains(known, name):
			return allowance{}, fmt.Errorf("countersign: Config.AllowHazards: unknown hazard %q: use %s, or %s",
				name, strings.Join(known, ", "), AllHazards)
		}
	}
	return allowed, nil
}

// refused returns the hazards that are not in the allowance.
func (a allowance) refused(hazards []chains.Hazard) []chains.Hazard {
	if a.all {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(hazards), func(hazard chains.Hazard) bool {
		return slices.Contains(a.names, hazard.Name)
	})
}

// refuseHazards refuses hazards that neither the configuration, nor the organization,
// nor a rule allows.
func (e *Engine) refuseHazards(intent activity.Intent, organization *access.Organization, hazards, byRules []chains.Hazard) error {
	refused := slices.DeleteFunc(e.notAllowed(organization, hazards), func(hazard chains.Hazard) bool { return slices.Contains(byRules, hazard) })
	if len(refused) == 0 {
		return nil
	}
	return nameHazards(intent, refused)
}

// notAllowed returns the hazards that neither the configuration nor the organization
// allows.
func (e *Engine) notAllowed(organization *access.Organization, hazards []chains.Hazard) []chains.Hazard {
	refused := e.allowed.refused(hazards)
	if organization != nil {
		refused = allowance{names: organization.AllowHazards}.refused(refused)
	}
	return refused
}

// nameHazards returns the refusal of hazards, which says how to allow them.
func nameHazards(intent activity.Intent, hazards []chains.Hazard) error {
	what, field := "transaction", intents.FieldTransaction
	if intents.IsMessage(intent) {
		what, field = "message", intents.FieldPayload
	}
	var details, names []string
	for _, hazard := range hazards {
		details = append(details, fmt.Sprintf("%s (%s)", hazard.Name, hazard.Detail))
		names = append(names, hazard.Name)
	}
	return activity.NewError(activity.ReasonHazardNotAllowed, field, nil,
		"the %s is well-formed but hazardous: %s; to sign it all the same, allow %s by name",
		what, strings.Join(details, "; "), strings.Join(names, ", "))
}

// spent returns a reader of what limits have counted of all requests except one, which
// may have been charged by a process that died.
func (e *Engine) spent(except store.Fingerprint) access.SpentReader { return spentReader{e, except} }

// spentSoFar returns a reader of what limits have counted of all requests, or nil if
// there is no store.
func (e *Engine) spentSoFar() access.SpentReader {
	if e.config.Store == nil {
		return nil
	}
	return e.spent(store.Fingerprint{})
}

type spentReader struct {
	engine *Engine
	except store.Fingerprint
}

// Spent implements SpentReader.
func (r spentReader) Spent(ctx context.Context, organizationID, limit, subject string, window time.Duration) (sum *big.Int, frees time.Time, err error) {
	charge := store.Charge{Limit: limit, Subject: subject, Window: window}
	err = r.engine.config.Store.Change(ctx, organizationID, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		sum, frees, err = store.SpentByOthers(ledger, r.except, charge, r.engine.config.Now())
		return nil, err
	}))
	return sum, frees, err
}
