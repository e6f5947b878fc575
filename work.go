package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

// work is what a request asks for, ready to be carried out: everything that can be
// refused without side effects has been.
type work interface {
	summary() *chains.Summary // nil if there is none
	hazards() []chains.Hazard

	// effects returns what the work does, and the keys that sign for it.
	effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error)

	// begin returns the change to one-time passwords that is made as the lease is
	// taken, or nil.
	begin(now time.Time) store.Change

	// perform does the work.
	perform(ctx context.Context) (outcome, error)
}

// outcome is the result of some work.
type outcome struct {
	result   activity.Result
	complete store.Change // made as the activity is recorded
	release  store.Change // made if it is not
}

// preparers says how the work of each activity type is prepared. Votes, which are not
// activities of their own, are in vote.go. The wire form of a type is a row of the
// table in package activity.
var preparers = map[activity.Type]func(*Engine, context.Context, *submission) (work, error){
	activity.TypeSignTransaction: (*Engine).prepareSigning,
	activity.TypeSignRawPayload:  (*Engine).prepareSigning,
	activity.TypeSignRawPayloads: (*Engine).prepareSigning,
	activity.TypeInitOTPAuth:     (*Engine).prepareIssue,
	activity.TypeVerifyOTP:       (*Engine).prepareVerification,
}

// prepareWork is step 4: it sets the task of a submission.
func (e *Engine) prepareWork(ctx context.Context, s *submission) (err error) {
	if s.request.GenerateAppProofs && e.config.ProofSigner == nil {
		return activity.NewError(activity.ReasonRequestInvalid, "generateAppProofs", nil,
			"app proofs are not available: this engine has no proof key")
	}
	prepare, served := preparers[s.request.Type]
	if !served {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s is not served", s.request.Type)
	}
	s.task, err = prepare(e, ctx, s)
	return err
}

// prepareSigning prepares a transaction or messages.
func (e *Engine) prepareSigning(ctx context.Context, s *submission) (work, error) {
	prepared, err := e.prepare(ctx, s.caller.organization.ID, s.intent)
	if err != nil {
		return nil, err
	}
	return prepared, nil
}
