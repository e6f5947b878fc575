package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

// work is one request that is ready to be carried out: whatever can be refused
// without doing anything has been.
type work interface {
	summary() *chains.Summary // nil if there is none
	hazards() []chains.Hazard

	// effects returns what the work does, and the keys that sign for it.
	effects(ctx context.Context) ([]chains.Effect, []SigningKey, error)

	// begin returns what happens to one-time passwords as the lease is taken;
	// nil if nothing.
	begin(now time.Time) store.Change

	// perform does it.
	perform(ctx context.Context) (outcome, error)
}

// outcome is what came of some work.
type outcome struct {
	result   activity.Result
	complete store.Change // happens as the activity is recorded
	release  store.Change // happens if it is not
}

// preparers is the table of how the work of each activity type is prepared; those
// of votes, which are no activities of their own, are in vote.go. What the type
// looks like on the wire is a row of a table in package activity.
var preparers = map[activity.Type]func(*Engine, context.Context, *caller, *activity.Request) (work, error){
	activity.TypeSignTransaction: (*Engine).prepareSigning,
	activity.TypeSignRawPayload:  (*Engine).prepareMessageWork,
	activity.TypeSignRawPayloads: (*Engine).prepareMessageWork,
	activity.TypeInitOTPAuth:     (*Engine).prepareIssue,
	activity.TypeVerifyOTP:       (*Engine).prepareVerification,
}

// prepareWork is step 4.
func (e *Engine) prepareWork(ctx context.Context, by *caller, request *activity.Request) (work, error) {
	if request.GenerateAppProofs && e.config.ProofSigner == nil {
		return nil, activity.NewError(activity.ReasonRequestInvalid, "generateAppProofs", nil,
			"app proofs are not available: this engine has no proof key")
	}
	prepare, served := preparers[request.Type]
	if !served {
		return nil, activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s is not served", request.Type)
	}
	return prepare(e, ctx, by, request)
}

func (e *Engine) prepareSigning(ctx context.Context, by *caller, request *activity.Request) (work, error) {
	prepared, err := e.prepare(ctx, by.organization.ID, request.Intent.(activity.SignTransactionIntent))
	if err != nil {
		return nil, err
	}
	return &signing{prepared: prepared}, nil
}

// signing is a transaction or message to be signed.
type signing struct {
	prepared *PreparedTransaction
	message  *PreparedMessage // set if it is a message
	intent   activity.Intent  // of the message
	cached   *chains.Summary
}

func (s *signing) summary() *chains.Summary {
	if s.cached == nil {
		made := s.prepared.Summary()
		s.cached = &made
	}
	return s.cached
}

func (s *signing) hazards() []chains.Hazard { return s.prepared.Hazards() }

func (s *signing) effects(ctx context.Context) ([]chains.Effect, []SigningKey, error) {
	effects, err := s.prepared.Effects(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := s.prepared.Keys(ctx)
	return effects, keys, err
}

func (s *signing) begin(time.Time) store.Change { return nil }

func (s *signing) perform(ctx context.Context) (outcome, error) {
	if s.message != nil {
		result, err := s.message.perform(ctx, s.intent)
		return outcome{result: result}, err
	}
	result, err := s.prepared.sign(ctx)
	if err != nil {
		return outcome{}, err
	}
	return outcome{result: result}, nil
}
