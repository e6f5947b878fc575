package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// Submit carries out a request once: submitting the same body again returns the same
// answer and does nothing else. The steps are
//
//	1 activity.Decode   strict; every later step uses this one reading
//	2 authenticate      the stamp is over exactly these bytes; the credential may submit this type
//	3 checkTime         timestampMs is neither too old nor too far ahead
//	4 prepareTask       the transaction, its keys, effects and hazards: all that can be refused without side effects
//	5 decide            the policy is asked about this credential, also if the answer is recorded;
//	                    then hazards that are not allowed are refused
//	6 store.Acquire     a lease, or the recorded activity
//	7 perform           sign, or send a one-time password
//	8 store.Complete    records the activity, before it is answered
//
// A transaction that needs approvals is recorded after step 6 and waits for votes. A vote is a
// request of its own, see package approvals; the last one needed continues the activity at step 6.
//
// A refused request leaves no activity behind. The error is an *activity.Error.
func (e *Engine) Submit(ctx context.Context, sent SignedBody) (*activity.Record, error) {
	s := request.New(sent.Path)
	record, err := e.process(ctx, s, sent)
	s.Record = record
	if err == nil {
		err = e.proveLogged(ctx, record)
	}
	e.observed(ctx, s, err)
	if err != nil {
		return nil, err
	}
	return record, nil
}

// process performs the steps of Submit.
func (e *Engine) process(ctx context.Context, s *request.Submission, sent SignedBody) (*activity.Record, error) {
	if err := e.admit(ctx, s, sent); err != nil {
		return nil, err
	}
	e.sweep()
	if _, votes := s.Intent.(activity.VoteIntent); !votes {
		if err := e.prepareTask(ctx, s); err != nil {
			return nil, err
		}
	}
	return e.proceed(ctx, s)
}

// proceed counts a vote; or it decides on a request whose task is prepared, and carries it out or
// lets it wait. One that is recorded is answered from its record.
func (e *Engine) proceed(ctx context.Context, s *request.Submission) (record *activity.Record, err error) {
	var recorded *store.Activity
	vote, votes := s.Intent.(activity.VoteIntent)
	if !votes {
		recorded, err = e.begin(ctx, s)
	}
	switch {
	case err != nil:
	case votes:
		record, err = e.approvals.Vote(ctx, s, vote)
	case recorded != nil:
		s.Repeated = true
		record, err = records.Decode(ctx, recorded)
	case s.Waits:
		record, err = e.approvals.Wait(ctx, s)
	default:
		return e.records.Perform(ctx, s)
	}
	if err == nil {
		record, err = e.approvals.ShownTo(ctx, s.Caller, record)
	}
	if err != nil {
		return nil, err
	}
	if record.Result == nil && !s.Repeated { // it was written now
		return record, nil
	}
	stop, err := e.records.Withhold(ctx, s.OrganizationID, record)
	if stop != nil && !votes { // a halt withholds what was signed
		err = refuse.Store(&store.StoppedError{Stop: *stop})
	}
	return record, err
}

// CheckRequest performs steps 1 to 5 of Submit: it refuses what Submit would refuse, without side
// effects. Use it to ask a person only about requests that their answer can decide. Nothing is
// done, recorded, observed or logged, and Submit checks everything again. Whether a vote counts is
// checked by Submit alone. The error is an *activity.Error.
func (e *Engine) CheckRequest(ctx context.Context, sent SignedBody) error {
	s := new(request.Submission)
	if err := e.admit(ctx, s, sent); err != nil {
		return err
	}
	if vote, ok := s.Intent.(activity.VoteIntent); ok {
		_, err := e.approvals.VotedOn(ctx, s.Caller, vote)
		return err
	}
	if err := e.prepareTask(ctx, s); err != nil {
		return err
	}
	if err := e.decide(ctx, s, e.records.Spent(s.Request.Fingerprint)); err != nil {
		_, err = e.recorded(ctx, s, err)
		return err
	}
	return nil
}

// admit performs steps 1 to 3.
func (e *Engine) admit(ctx context.Context, s *request.Submission, sent SignedBody) error {
	if err := e.identify(ctx, s, sent); err != nil {
		return err
	}
	if err := checkAddress(ctx, s.Caller); err != nil {
		return err
	}
	return e.checkTime(s.Request.Time())
}

// identify performs steps 1 to 3 except the check of the request's age.
func (e *Engine) identify(ctx context.Context, s *request.Submission, sent SignedBody) error {
	if err := e.takesRequests(); err != nil {
		return err
	}
	decoded, err := activity.Decode(sent.Body)
	if err != nil {
		return err
	}
	if sent.Path != "" && request.Path(decoded.Type) != sent.Path {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"type %s does not belong to this path: post it to %s", decoded.Type, request.Path(decoded.Type))
	}
	if decoded.Submitter != (activity.Submitter{}) {
		return activity.NewError(activity.ReasonRequestInvalid, "submitter", nil,
			"submitter: only the body of a call without a stamp has one: whose stamp it is says who sends this")
	}
	s.Operation, s.OrganizationID = request.Path(decoded.Type), decoded.OrganizationID
	s.Request, s.Intent = decoded, decoded.Intent
	if s.Caller, err = e.authenticate(ctx, decoded.OrganizationID, sent); err != nil {
		return err
	}
	return s.Caller.CheckType(ctx, e.config.Directory, decoded.Type)
}

// prepareTask is step 4: it sets the task of a submission.
func (e *Engine) prepareTask(ctx context.Context, s *request.Submission) error {
	if s.Request.GenerateAppProofs && e.config.ProofSigner == nil {
		return activity.NewError(activity.ReasonRequestInvalid, "generateAppProofs", nil,
			"app proofs are not available: this engine has no proof key")
	}
	served, err := e.operations.Of(s.Request.Type)
	if err != nil {
		return err
	}
	if served.Prepare != nil {
		s.Task, err = served.Prepare(ctx, operation.Request{
			Organization: s.Caller.Organization, UserID: s.Caller.Member.User.ID, Credential: s.Caller.CredentialID(),
			Intent: s.Intent, Fingerprint: s.Request.Fingerprint, Now: e.config.Now,
		})
		return err
	}
	prepared, err := e.preparer.Prepare(ctx, s.Caller.Organization.ID, s.Intent)
	if err == nil {
		s.Task = prepared
	}
	return err
}

// begin performs steps 5 and 6. The lease is taken together with its charges. If the
// request was answered before, begin returns the recorded activity and no lease.
func (e *Engine) begin(ctx context.Context, s *request.Submission) (*store.Activity, error) {
	var spent access.SpentReader
	var limited error
	for range records.BeginAttempts {
		if err := e.decide(ctx, s, spent); err != nil {
			return e.recorded(ctx, s, err)
		}
		s.Charges = store.Charges{By: s.ChargedBy(), List: s.Decision.Charges}
		if s.Waits {
			s.Charges.List = nil // charged with the last vote
		}
		begun, err := store.Acquire(ctx, e.config.Store, e.records.Claim(s), e.config.Now,
			func(now time.Time) store.Change {
				return e.records.Noted(s, s.Charges.Take(now, s.Task.Begin(now)))
			})
		switch {
		case errors.Is(err, store.ErrLimit):
			limited, spent = err, e.records.Spent(s.Request.Fingerprint)
		case err != nil:
			return nil, refuse.Store(err)
		case begun.Recorded != nil:
			return begun.Recorded, nil
		default:
			s.Lease = *begun.Lease
			return nil, nil
		}
	}
	return nil, refuse.Store(limited)
}

// recorded returns the recorded activity of a request that a Decider refuses, or the refusal:
// a client that lost the answer can still get it, whatever limits, times and approvals
// say now. If the store cannot say whether there is one, its error is returned: the refusal
// would be final. A plain Policy is asked for each reading.
func (e *Engine) recorded(ctx context.Context, s *request.Submission, refusal error) (*store.Activity, error) {
	if _, ok := e.config.Policy.(access.Decider); !ok {
		return nil, refusal
	}
	claim := e.records.Claim(s)
	claim.Now = e.config.Now()
	recorded, err := store.Recorded(ctx, e.config.Store, claim)
	switch {
	case err != nil:
		return nil, refuse.Store(err)
	case recorded == nil:
		return nil, refusal
	case s.Caller.Stamp == nil: // the body names the caller
	case recorded.SubmittedBy != string(s.Caller.Member.Credential.ID()):
		return nil, refusal
	}
	return recorded, nil
}

// takesRequests refuses all requests if the engine has no directory.
func (e *Engine) takesRequests() error {
	if e.config.Directory == nil {
		return activity.NewError(activity.ReasonInternal, "", nil,
			"this engine takes no requests: its Config has no Directory")
	}
	return nil
}
