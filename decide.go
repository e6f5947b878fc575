package countersign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/approvals"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/internal/signing"
	"github.com/countersign-dev/countersign/store"
)

// decide is step 5: it asks the policy, with the caller's own vote as the only one. A transaction
// that needs more votes waits for them; what cannot wait is refused. No policy decides on a halt.
//
// spent is nil when a request is decided for the first time: the ledger is not read
// then, since the charges are made in the transaction that takes the lease, or not at
// all. A Decider whose charges exceeded a limit there is asked again with the ledger.
func (e *Engine) decide(ctx context.Context, s *request.Submission, spent access.SpentReader) error {
	if s.Intent.ActivityType().Halts() {
		return nil
	}
	now := e.config.Now()
	votes := s.OwnVote(now)
	decision, err := e.judge.ask(ctx, s, votes, spent)
	if err != nil {
		return err
	}
	refused := approvals.Refuse(decision.Approvals, votes, s.Caller.Member.User.ID, now)
	if refused != nil {
		if s.Signs() == nil || len(decision.Rules) == 0 {
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

func (a allowance) refused(hazards []chains.Hazard) []chains.Hazard {
	if a.all {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(hazards), func(hazard chains.Hazard) bool {
		return slices.Contains(a.names, hazard.Name)
	})
}

// refusedTo returns the hazards that neither the configuration nor the organization allows.
func (a allowance) refusedTo(organization *access.Organization, hazards []chains.Hazard) []chains.Hazard {
	refused := a.refused(hazards)
	if organization != nil {
		refused = allowance{names: organization.AllowHazards}.refused(refused)
	}
	return refused
}

// judge judges prepared requests: by the policy, and by the hazards that are allowed.
type judge struct {
	policy  access.Policy // may be nil
	allowed allowance
	records *records.Keeper
	now     func() time.Time
}

// ask asks the policy, if there is one, and refuses hazards that neither the
// configuration, nor the organization, nor the rules that cover them allow. A plain
// Policy is asked only about hazards that are allowed.
func (j *judge) ask(ctx context.Context, s *request.Submission, votes []access.Vote,
	spent access.SpentReader) (whole access.Decision, err error) {
	list, _ := s.Task.(*signing.List)
	counted, read := spent.(*store.Spending)
	if !read {
		counted = new(store.Spending)
	}
	err = eachAlone(s, func(i int, part *request.Submission) error {
		decision, err := j.askAlone(ctx, part, votes, spent)
		switch {
		case err != nil || list == nil:
			whole = decision
		case i > 0 && (decision.Digest != whole.Digest || decision.Prices != whole.Prices):
			err = activity.NewError(activity.ReasonUnavailable, "", nil,
				"the policy was replaced while it was asked: send the same body again")
		default:
			counted.Add(decision.Charges)
			spent = counted
			whole.Merge(&decision)
		}
		return err
	})
	if signs := s.Signs(); signs != nil {
		readings := signs.Readings()
		whole.Readings, whole.ReadWith = readings.Digest(), readings.Sources()
		whole.Wallets = signs.Wallets().Used
	}
	return whole, err
}

// eachAlone calls a function with a submission or, if it is of a list, with each transaction as if
// it were submitted alone: what holds for one must not satisfy a condition about another. The
// error names the transaction.
func eachAlone(s *request.Submission, do func(index int, alone *request.Submission) error) error {
	list, ok := s.Task.(*signing.List)
	if !ok {
		return do(0, s)
	}
	for i, part := range list.Parts {
		alone := *s
		alone.Task, alone.Intent = part, part.Intent()
		if err := do(i, &alone); err != nil {
			return intents.InList(i, err)
		}
	}
	return nil
}

// askAlone asks about what is no list.
func (j *judge) askAlone(ctx context.Context, s *request.Submission, votes []access.Vote,
	spent access.SpentReader) (decision access.Decision, err error) {
	if j.policy == nil {
		return decision, j.refuseHazards(s.Intent, s.Caller.Organization, s.Task.Hazards(), nil)
	}
	authorization, err := j.authorization(ctx, s)
	if err != nil {
		return decision, err
	}
	if spent != nil && authorization.Wallet != nil {
		spent = j.records.Spent(authorization.Wallet.ChargeID) // without what a cosigner's request was charged for it
	}
	authorization.Votes, authorization.Spent = votes, spent
	hazards := authorization.Hazards
	decider, ok := j.policy.(access.Decider)
	if !ok {
		if err := j.refuseHazards(s.Intent, authorization.Organization, hazards, nil); err != nil {
			return decision, err
		}
		return decision, refuse.Policy(j.policy.Authorize(ctx, authorization))
	}
	authorization.Hazards = j.allowed.refusedTo(authorization.Organization, hazards)
	if decision, err = decider.Decide(ctx, authorization); err != nil {
		return access.Decision{}, refuse.Policy(err)
	}
	if err := j.refuseHazards(s.Intent, authorization.Organization, hazards, decision.Hazards); err != nil {
		return access.Decision{}, err
	}
	return decision, nil
}

// authorization returns what a policy is asked about a submission, without votes and ledger.
func (j *judge) authorization(ctx context.Context, s *request.Submission) (access.Authorization, error) {
	intent := s.Intent
	if secret, ok := intent.(activity.Redacter); ok {
		intent = secret.Redacted()
	}
	effects, keys, err := s.Task.Effects(ctx)
	authorization := access.Authorization{
		Organization: s.Caller.Organization,
		User:         s.Caller.Member.User,
		Credential:   s.Caller.Member.Credential,
		Intent:       intent,
		Hazards:      s.Task.Hazards(),
		Effects:      effects,
		Keys:         keys,
		Now:          j.now(),
	}
	if signs := s.Signs(); signs != nil {
		wallets := signs.Wallets()
		authorization.Chain, authorization.Summary = signs.Chain().Name(), signs.Summary
		authorization.Wallet, authorization.MixedWallets = wallets.Only, wallets.Mixed
		authorization.Readings = signs.Readings()
	}
	return authorization, err
}

// asked returns what a Decider is asked about a submission, without votes and ledger: of a list
// about each transaction.
func (j *judge) asked(ctx context.Context, s *request.Submission) (all []access.Authorization, err error) {
	err = eachAlone(s, func(_ int, alone *request.Submission) error {
		authorization, err := j.authorization(ctx, alone)
		authorization.Hazards = j.allowed.refusedTo(s.Caller.Organization, authorization.Hazards)
		all = append(all, authorization)
		return err
	})
	return all, err
}

// refuseHazards refuses hazards that neither the configuration, nor the organization,
// nor a rule allows. The refusal says how to allow them.
func (j *judge) refuseHazards(intent activity.Intent, organization *access.Organization,
	hazards, byRules []chains.Hazard) error {
	refused := slices.DeleteFunc(j.allowed.refusedTo(organization, hazards),
		func(hazard chains.Hazard) bool { return slices.Contains(byRules, hazard) })
	if len(refused) == 0 {
		return nil
	}
	what, field := "transaction", intents.FieldTransaction
	if intents.IsMessage(intent) {
		what, field = "message", intents.FieldPayload
	}
	var details, names []string
	for _, hazard := range refused {
		details = append(details, fmt.Sprintf("%s (%s)", hazard.Name, hazard.Detail))
		if !slices.Contains(names, hazard.Name) {
			names = append(names, hazard.Name)
		}
	}
	return activity.NewError(activity.ReasonHazardNotAllowed, field, nil,
		"the %s is well-formed but hazardous: %s; to sign it all the same, allow %s by name",
		what, strings.Join(details, "; "), strings.Join(names, ", "))
}
