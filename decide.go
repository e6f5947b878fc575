package countersign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/approvals"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// decide is step 5: it asks the policy, with the caller's own vote as the only one. A
// transaction that needs more votes waits for them; what cannot wait is refused.
//
// spent is nil when a request is decided for the first time: the ledger is not read
// then, since the charges are made in the transaction that takes the lease, or not at
// all. A Decider whose charges exceeded a limit there is asked again with the ledger.
func (e *Engine) decide(ctx context.Context, s *request.Submission, spent access.SpentReader) error {
	now := e.config.Now()
	votes := s.OwnVote(now)
	decision, err := e.ask(ctx, s, votes, spent)
	if err != nil {
		return err
	}
	refused := approvals.Refuse(decision.Approvals, votes, s.Caller.Member.User.ID, now)
	if refused != nil {
		if s.Signing() == nil || len(decision.Rules) == 0 {
			return refused
		}
		switch may, err := e.canWait(ctx, s.Caller); {
		case err != nil:
			return err
		case !may:
			return refused
		}
	}
	s.Decision, s.Waits = decision, refused != nil
	return nil
}

// canWait reports whether a caller's request can wait for approvals: the caller has to be
// found again later.
func (e *Engine) canWait(ctx context.Context, caller *request.Caller) (bool, error) {
	if caller.Stamp != nil {
		return true, nil
	}
	if e.records.Waiter == nil {
		return false, nil
	}
	user, err := request.UserOf(ctx, e.config.Directory, caller.Organization.ID, caller.Member.User.ID)
	return user != nil, err
}

// ask asks the policy, if there is one, and refuses hazards that neither the
// configuration, nor the organization, nor the rules that cover them allow. A plain
// Policy is asked only about hazards that are allowed.
func (e *Engine) ask(ctx context.Context, s *request.Submission, votes []access.Vote, spent access.SpentReader) (access.Decision, error) {
	readings, used := readingsOf(s), walletsOf(s)
	if e.config.Policy == nil {
		return access.Decision{Readings: readings.Digest(), ReadWith: readings.Sources(), Wallets: used},
			e.refuseHazards(s.Intent, s.Caller.Organization, s.Task.Hazards(), nil)
	}
	authorization, err := e.authorization(ctx, s)
	if err != nil {
		return access.Decision{}, err
	}
	if spent != nil && authorization.Wallet != nil {
		spent = e.records.Spent(authorization.Wallet.ChargeID) // without what a cosigner's request was charged for it
	}
	authorization.Votes, authorization.Spent = votes, spent
	decision, err := e.askPolicy(ctx, authorization)
	decision.Readings, decision.ReadWith, decision.Wallets = readings.Digest(), readings.Sources(), used
	return decision, err
}

// authorization returns what a policy is asked about a submission, without votes and
// ledger.
func (e *Engine) authorization(ctx context.Context, s *request.Submission) (access.Authorization, error) {
	effects, keys, err := s.Task.Effects(ctx)
	var wallet *access.SigningWallet
	mixed := false
	if prepared := s.Signing(); prepared != nil {
		wallet, mixed = prepared.Wallet(), prepared.MixesWallets()
	}
	return access.Authorization{
		Organization: s.Caller.Organization,
		User:         s.Caller.Member.User,
		Credential:   s.Caller.Member.Credential,
		Intent:       redacted(s.Intent),
		Summary:      s.Task.Summary(),
		Hazards:      s.Task.Hazards(),
		Effects:      effects,
		Keys:         keys,
		Wallet:       wallet,
		MixedWallets: mixed,
		Now:          e.config.Now(),
		Readings:     readingsOf(s),
	}, err
}

// redacted returns an intent without the secrets in it.
func redacted(intent activity.Intent) activity.Intent {
	if secret, ok := intent.(activity.Redacter); ok {
		return secret.Redacted()
	}
	return intent
}

// readingsOf returns what descriptors say of what is signed, or nil.
func readingsOf(s *request.Submission) chains.Readings {
	if prepared := s.Signing(); prepared != nil {
		return prepared.Readings()
	}
	return nil
}

// walletsOf returns the registered wallets that what is signed spends from or pays to.
func walletsOf(s *request.Submission) []activity.RegisteredWallet {
	if prepared := s.Signing(); prepared != nil {
		return prepared.Wallets()
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
		return access.Decision{}, refuse.Policy(e.config.Policy.Authorize(ctx, authorization))
	}
	authorization.Hazards = e.allowed.refusedTo(authorization.Organization, hazards)
	decision, err := decider.Decide(ctx, authorization)
	if err != nil {
		return access.Decision{}, refuse.Policy(err)
	}
	if err := e.refuseHazards(authorization.Intent, authorization.Organization, hazards, decision.Hazards); err != nil {
		return access.Decision{}, err
	}
	return decision, nil
}

// refuseHazards refuses hazards that neither the configuration, nor the organization,
// nor a rule allows.
func (e *Engine) refuseHazards(intent activity.Intent, organization *access.Organization, hazards, byRules []chains.Hazard) error {
	refused := slices.DeleteFunc(e.allowed.refusedTo(organization, hazards), func(hazard chains.Hazard) bool { return slices.Contains(byRules, hazard) })
	if len(refused) == 0 {
		return nil
	}
	return nameHazards(intent, refused)
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
		if !slices.Contains(names, hazard.Name) {
			names = append(names, hazard.Name)
		}
	}
	return activity.NewError(activity.ReasonHazardNotAllowed, field, nil,
		"the %s is well-formed but hazardous: %s; to sign it all the same, allow %s by name",
		what, strings.Join(details, "; "), strings.Join(names, ", "))
}

// spentSoFar returns a reader of what limits have counted of all requests, or nil if
// there is no store.
func (e *Engine) spentSoFar() access.SpentReader {
	if e.config.Store == nil {
		return nil
	}
	return e.records.Spent(store.Fingerprint{})
}
