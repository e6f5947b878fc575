package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/request"
)

// Observer counts and times what the engine does. It is called while requests wait and
// must not block.
type Observer interface {
	// Observe is called once for each submitted request and each query, and for each
	// call to sign by a user or under a Policy.
	Observe(observation Observation)
}

// Observation is one request.
type Observation struct {
	OrganizationID string // as the request named it
	UserID         string // of the caller; empty if the stamp was refused

	Operation string          // path of the operation, such as "sign_transaction"; empty if the body did not say
	Reason    activity.Reason // why it was refused; empty if it was not
	Rule      string          // of the policy, if one refused it
	Repeated  bool            // the answer was recorded before
	Waits     bool            // a request, or the one that a vote is on, waits for approvals
	Duration  time.Duration   // of the whole request
	Performed time.Duration   // of signing, or of issuing and delivering a password; 0 if it did not come to that
}

// observed reports a request that has ended to the observer and the log.
func (e *Engine) observed(ctx context.Context, s *request.Submission, err error) {
	s.Duration = time.Since(s.Started)
	observation := Observation{
		OrganizationID: s.OrganizationID, Operation: s.Operation, Repeated: s.Repeated, Waits: err == nil && s.Record != nil && s.Record.Status.Waits(),
		Duration: s.Duration, Performed: s.Performed,
	}
	if s.Caller != nil {
		observation.UserID = s.Caller.Member.User.ID
	}
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		observation.Reason = refused.Reason
	}
	if ruled, ok := errors.AsType[access.Ruled](err); ok {
		observation.Rule = ruled.RefusedBy()
	}
	if e.config.Observer != nil {
		e.config.Observer.Observe(observation)
	}
	s.Log(ctx, e.config.Logger, err)
}
