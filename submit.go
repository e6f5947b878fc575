package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// SignedBody is a request as it was sent: a body and the stamp over it.
type SignedBody struct {
	// Body is exactly what was sent. It must not be changed afterwards.
	Body []byte

	// Stamps are the headers that hold a stamp. One is expected; that there
	// are none or several is for the engine to refuse.
	Stamps []stamp.Header

	// Type is the activity type of the path that the body was sent to. Empty:
	// whatever type the body says.
	Type activity.Type
}

// Submit carries a request out, once: the same body again gets the same answer
// and does nothing. The road of a request is
//
//	1 activity.Decode   strict; the one reading that everything after goes by
//	2 authenticate      the stamp, over exactly these bytes; the credential may submit this type
//	3 liveness          timestampMs is not too old and not ahead
//	4 prepare           the transaction, the keys, its effects and hazards: all that can be refused without doing anything
//	5 decide            the policy, for this credential, also if the answer is recorded; then hazards that are not allowed
//	6 store.Acquire     a lease, or the recorded activity
//	7 perform           sign, or send a one-time password
//	8 store.Complete    and only then the answer
//
// A transaction that needs approvals is recorded after step 6, and waits for
// votes: requests of their own, see vote.go. The last of them goes on with step 7.
//
// What is refused leaves no activity. Its error is an *activity.Error.
func (e *Engine) Submit(ctx context.Context, sent SignedBody) (*activity.Record, error) {
	started := time.Now()
	seen := Observation{Operation: operationPath(sent.Type), trail: new(trail)}
	record, organizationID, err := e.dispatch(ctx, sent, &seen)
	seen.trail.record = record
	if err == nil {
		err = e.proveLogged(ctx, record)
	}
	e.observed(ctx, &seen, organizationID, started, err)
	if err != nil {
		return nil, err
	}
	return record, nil
}

// CheckRequest is steps 1 to 5 of Submit: it refuses what Submit would refuse
// without doing anything. It is for asking a person only about requests that
// their answer can decide. Nothing is done, recorded, observed or logged, and
// Submit checks everything again. The error is an *activity.Error.
func (e *Engine) CheckRequest(ctx context.Context, sent SignedBody) error {
	if err := e.ready(); err != nil {
		return err
	}
	request, err := decodeFor(sent)
	if err != nil {
		return err
	}
	if intent, ok := request.Intent.(activity.VoteIntent); ok {
		return e.checkVote(ctx, request, intent, sent.Stamps)
	}
	by, task, err := e.admit(ctx, request, sent.Stamps)
	if err != nil {
		return err
	}
	_, err = e.decide(ctx, by, request.Intent, task, by.votes(e.config.Now()), e.spent(request.Fingerprint))
	if _, recorded := e.recorded(ctx, e.claim(request), by); err != nil && recorded {
		return nil
	}
	return err
}

func (e *Engine) dispatch(ctx context.Context, sent SignedBody, seen *Observation) (record *activity.Record, organizationID string, err error) {
	if err := e.ready(); err != nil {
		return nil, "", err
	}
	request, err := decodeFor(sent)
	if err != nil {
		return nil, "", err
	}
	seen.Operation = operationPath(request.Type)
	if intent, ok := request.Intent.(activity.VoteIntent); ok {
		record, err = e.vote(ctx, request, intent, sent.Stamps, seen)
		return record, request.OrganizationID, err
	}
	record, err = e.runActivity(ctx, request, sent.Stamps, seen)
	return record, request.OrganizationID, err
}

// runActivity is steps 2 to 8.
func (e *Engine) runActivity(ctx context.Context, request *activity.Request, headers []stamp.Header, seen *Observation) (*activity.Record, error) {
	by, task, err := e.admit(ctx, request, headers)
	seen.trail.intent, seen.trail.by, seen.trail.task = request.Intent, by, task
	if err != nil {
		return nil, err
	}
	e.sweep()
	begun, charges, err := e.begin(ctx, by, request, task)
	if err != nil {
		return nil, err
	}
	if begun.Recorded != nil {
		seen.Repeated = true
		record, err := decodeRecorded(ctx, begun.Recorded)
		if err != nil {
			return nil, err
		}
		return e.shownTo(ctx, by, record)
	}
	if by.waits {
		return e.wait(ctx, by, request, task, *begun.Lease)
	}
	return e.perform(ctx, by, request, task, &charges, *begun.Lease, seen)
}

// admit is steps 2 to 4.
func (e *Engine) admit(ctx context.Context, request *activity.Request, headers []stamp.Header) (*caller, work, error) {
	by, err := e.authenticate(ctx, request.OrganizationID, headers, request.Body)
	if err != nil {
		return nil, nil, err
	}
	if !by.may(request.Type) {
		return nil, nil, by.refuseType(request.Type)
	}
	if err := e.checkTime(request.Time()); err != nil {
		return nil, nil, err
	}
	task, err := e.prepareWork(ctx, by, request)
	return by, task, err
}

// beginAttempts bounds how often a Decider is asked about one request: others
// may use a limit up between its answer and the lease.
const beginAttempts = 3

// begin is steps 5 and 6. The lease comes with its charges, or not at all.
func (e *Engine) begin(ctx context.Context, by *caller, request *activity.Request, task work) (begun store.BeginResult, charges store.Charges, err error) {
	claim, clock := e.claim(request), e.config.Now
	var spent SpentReader
	var limited error
	for range beginAttempts {
		votes := by.votes(clock())
		decision, err := e.decide(ctx, by, request.Intent, task, votes, spent)
		if err == nil {
			by.waits, err = waits(&decision, votes, by, task, clock())
		}
		if err != nil {
			begun, recorded := e.recorded(ctx, claim, by)
			if recorded {
				return begun, charges, nil
			}
			return store.BeginResult{}, charges, err
		}
		by.decision = decision
		charges = store.Charges{By: request.Fingerprint, List: decision.Charges}
		if by.waits {
			charges.List = nil // they are made with the last vote
		}
		begun, err = store.Acquire(ctx, e.config.Store, claim, clock, func(now time.Time) store.Change {
			return charges.Take(now, task.begin(now))
		})
		if err == nil {
			return begun, charges, nil
		}
		if !errors.Is(err, store.ErrLimit) {
			return store.BeginResult{}, charges, refuseStore(err)
		}
		limited, spent = err, e.spent(request.Fingerprint)
	}
	return store.BeginResult{}, charges, refuseStore(limited)
}

// recorded looks for the record of a request that a Decider refuses: an answer
// that was lost stays readable, whatever limits, times and approvals say now. A
// plain Policy is asked for each reading.
func (e *Engine) recorded(ctx context.Context, claim store.Claim, by *caller) (store.BeginResult, bool) {
	if _, ok := e.config.Policy.(Decider); !ok || by.sent == nil {
		return store.BeginResult{}, false
	}
	found, err := e.config.Store.Find(ctx, claim.OrganizationID, claim.Fingerprint)
	if err != nil || found.SubmittedBy != string(by.member.Credential.ID()) {
		return store.BeginResult{}, false
	}
	return store.BeginResult{Recorded: &found}, true
}

// ready refuses what an engine without a directory cannot do.
func (e *Engine) ready() error {
	if e.config.Directory == nil {
		return activity.NewError(activity.ReasonUnavailable, "", nil, "this engine takes no requests: its Config has no Directory")
	}
	return nil
}

// decodeFor reads a body for the path it was sent to.
func decodeFor(sent SignedBody) (*activity.Request, error) {
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return nil, err
	}
	if sent.Type != "" && request.Type != sent.Type {
		return nil, activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"type %s does not belong to this path, which is for %s", request.Type, sent.Type)
	}
	return request, nil
}

// operationPath returns the path of a type, empty if it is not served.
func operationPath(kind activity.Type) string { return operationPaths[kind] }

var operationPaths = func() map[activity.Type]string {
	paths := map[activity.Type]string{}
	for _, operation := range activity.Operations() {
		paths[operation.Type] = operation.Path
	}
	return paths
}()
