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

// prepareWork is step 4.
func (e *Engine) prepareWork(ctx context.Context, by *caller, request *activity.Request) (work, error) {
	if request.GenerateAppProofs && e.config.ProofSigner == nil {
		return nil, activity.NewError(activity.ReasonRequestInvalid, "generateAppProofs", nil,
			"app proofs are not available: this engine has no proof key")
	}
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent:
		prepared, err := e.prepare(ctx, by.organization.ID, intent)
		if err != nil {
			return nil, err
		}
		return &signing{prepared: prepared}, nil
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		return e.prepareMessageWork(ctx, by.organization.ID, intent)
	case activity.InitOTPAuthIntent:
		return e.prepareIssue(by, intent)
	case activity.VerifyOTPIntent:
		return e.prepareVerification(by, request, intent)
	}
	return nil, activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s is not served", request.Type)
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

func (s *signing) begin(time.Time) store.Change { return nil }

func (s *signing) perform(ctx context.Context) (outcome, error) {
	if s.message != nil {
		result, err := s.message.perform(ctx, s.intent)
		return outcome{result: result}, err
	}
	result, err := s.prepared.Sign(ctx)
	if err != nil {
		return outcome{}, err
	}
	return outcome{result: result}, nil
}
