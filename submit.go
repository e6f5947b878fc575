package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// SignedBody is a request as it was sent: a body and the stamp over it.
type SignedBody struct {
	// Body is exactly what was sent. It must not be modified afterwards.
	Body []byte

	// Stamps are the headers that hold a stamp. The engine refuses a request that
	// has none or several.
	Stamps []stamp.Header

	// Type is the activity type of the path that the body was sent to. If it is
	// empty, the body may be of any type.
	Type activity.Type
}

// Submit carries out a request once: submitting the same body again returns the same
// answer and does nothing else. The steps are
//
//	1 activity.Decode   strict; every later step uses this one reading
//	2 authenticate      the stamp is over exactly these bytes; the credential may submit this type
//	3 checkTime         timestampMs is neither too old nor too far ahead
//	4 prepareWork       the transaction, its keys, effects and hazards: everything that can be refused without side effects
//	5 decide            the policy is asked about this credential, also if the answer is recorded; then hazards that are not allowed are refused
//	6 store.Acquire     a lease, or the recorded activity
//	7 perform           sign, or send a one-time password
//	8 store.Complete    records the activity, before it is answered
//
// A transaction that needs approvals is recorded after step 6 and waits for votes.
// A vote is a request of its own, see vote.go; the last one needed continues the
// activity at step 7.
//
// A refused request leaves no activity behind. The error is an *activity.Error.
func (e *Engine) Submit(ctx context.Context, sent SignedBody) (*activity.Record, error) {
	s := newSubmission(operationPath(sent.Type))
	record, err := e.process(ctx, s, sent)
	if err == nil && s.result == nil {
		record, err = e.shownTo(ctx, s.caller, record)
	}
	s.record = record
	if err == nil {
		err = e.proveLogged(ctx, record)
	}
	s.Waits = err == nil && record.Status.Waits()
	e.observed(ctx, s, err)
	if err != nil {
		return nil, err
	}
	return record, nil
}

// process performs the steps of Submit.
func (e *Engine) process(ctx context.Context, s *submission, sent SignedBody) (*activity.Record, error) {
	if err := e.admit(ctx, s, sent); err != nil {
		return nil, err
	}
	e.sweep()
	if vote, ok := s.intent.(activity.VoteIntent); ok {
		return e.vote(ctx, s, vote)
	}
	if err := e.prepareWork(ctx, s); err != nil {
		return nil, err
	}
	recorded, err := e.begin(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case recorded != nil:
		s.Repeated = true
		return decodeRecorded(ctx, recorded)
	case s.waits:
		return e.wait(ctx, s)
	}
	return e.perform(ctx, s)
}

// CheckRequest performs steps 1 to 5 of Submit: it refuses what Submit would refuse,
// without side effects. Use it to ask a person only about requests that their answer
// can decide. Nothing is done, recorded, observed or logged, and Submit checks
// everything again. Whether a vote counts is checked by Submit alone. The error is an
// *activity.Error.
func (e *Engine) CheckRequest(ctx context.Context, sent SignedBody) error {
	s := new(submission)
	if err := e.admit(ctx, s, sent); err != nil {
		return err
	}
	if vote, ok := s.intent.(activity.VoteIntent); ok {
		_, err := e.votedOn(ctx, s.caller, vote)
		return err
	}
	if err := e.prepareWork(ctx, s); err != nil {
		return err
	}
	err := e.decide(ctx, s, e.spent(s.request.Fingerprint))
	if err != nil && e.recorded(ctx, s) != nil {
		return nil
	}
	return err
}

// admit performs steps 1 to 3.
func (e *Engine) admit(ctx context.Context, s *submission, sent SignedBody) error {
	if err := e.identify(ctx, s, sent); err != nil {
		return err
	}
	return e.checkTime(s.request.Time())
}

// identify performs steps 1 to 3 except the check of the request's age.
func (e *Engine) identify(ctx context.Context, s *submission, sent SignedBody) error {
	if err := e.takesRequests(); err != nil {
		return err
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return err
	}
	if sent.Type != "" && request.Type != sent.Type {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"type %s does not belong to this path, which is for %s", request.Type, sent.Type)
	}
	s.Operation, s.organizationID = operationPath(request.Type), request.OrganizationID
	s.request, s.intent = request, request.Intent
	if s.caller, err = e.authenticate(ctx, request.OrganizationID, sent); err != nil {
		return err
	}
	return s.caller.checkType(request.Type)
}

// beginAttempts bounds how often a Decider is asked about one request. It is asked
// again if other requests used up a limit between its answer and the lease.
const beginAttempts = 3

// begin performs steps 5 and 6. The lease is taken together with its charges. If the
// request was answered before, begin returns the recorded activity and no lease.
func (e *Engine) begin(ctx context.Context, s *submission) (*store.Activity, error) {
	var spent access.SpentReader
	var limited error
	for range beginAttempts {
		if err := e.decide(ctx, s, spent); err != nil {
			if recorded := e.recorded(ctx, s); recorded != nil {
				return recorded, nil
			}
			return nil, err
		}
		s.charges = store.Charges{By: s.request.Fingerprint, List: s.decision.Charges}
		if s.waits {
			s.charges.List = nil // charged with the last vote
		}
		begun, err := store.Acquire(ctx, e.config.Store, e.claim(s.request), e.config.Now, func(now time.Time) store.Change {
			return s.charges.Take(now, s.task.Begin(now))
		})
		switch {
		case errors.Is(err, store.ErrLimit):
			limited, spent = err, e.spent(s.request.Fingerprint)
		case err != nil:
			return nil, refuseStore(err)
		case begun.Recorded != nil:
			return begun.Recorded, nil
		default:
			s.lease = *begun.Lease
			return nil, nil
		}
	}
	return nil, refuseStore(limited)
}

// recordOverhead is about how many bytes a record has in addition to the body and the
// signed transaction.
const recordOverhead = 2 << 10

func (e *Engine) claim(request *activity.Request) store.Claim {
	claim := store.Claim{
		OrganizationID: request.OrganizationID,
		Fingerprint:    request.Fingerprint,
		LeaseTTL:       e.config.LeaseTTL,
		LiveUntil:      e.liveUntil(request.Time()),
		Size:           2*len(request.Body) + recordOverhead,
	}
	if e.config.Log {
		claim.Sent = request.Time()
	}
	return claim
}

// liveUntil returns the last instant at which a lease on the request may be taken.
// Adding the skew to the age leaves time for a slow policy to a request that was live
// when it arrived. The result depends only on the body and the configuration, so that a
// store that forgets activities can tell which ones it may have forgotten.
func (e *Engine) liveUntil(sent time.Time) time.Time {
	if e.config.AnyRequestTime {
		return time.Time{}
	}
	return sent.Add(e.config.MaxRequestAge + e.config.MaxRequestSkew)
}

// recorded returns the recorded activity of a request that a Decider refuses, or nil:
// a client that lost the answer can still get it, whatever limits, times and approvals
// say now. A plain Policy is asked for each reading.
func (e *Engine) recorded(ctx context.Context, s *submission) *store.Activity {
	if _, ok := e.config.Policy.(access.Decider); !ok || s.caller.stamp == nil {
		return nil
	}
	found, err := e.config.Store.Find(ctx, s.request.OrganizationID, s.request.Fingerprint)
	if err != nil || found.SubmittedBy != string(s.caller.member.Credential.ID()) {
		return nil
	}
	return &found
}

// takesRequests refuses all requests if the engine has no directory.
func (e *Engine) takesRequests() error {
	if e.config.Directory == nil {
		return activity.NewError(activity.ReasonInternal, "", nil, "this engine takes no requests: its Config has no Directory")
	}
	return nil
}

// operationPath returns the path of a type, or "" if it is not served.
func operationPath(kind activity.Type) string { return operationPaths[kind] }

var operationPaths = func() map[activity.Type]string {
	paths := map[activity.Type]string{}
	for _, operation := range activity.Operations() {
		paths[operation.Type] = operation.Path
	}
	return paths
}()
