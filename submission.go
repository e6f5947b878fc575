package countersign

import (
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// submission is one request on its way through the engine. Each step adds what it
// found out, and the request's log line is written from it at the end.
type submission struct {
	Observation
	started time.Time

	// Read from the body, and unverified until caller is set.
	organizationID string
	intent         activity.Intent
	request        *activity.Request // nil for a call that is not recorded

	caller   *caller         // who sent it
	task     operation.Task  // what it asks for, ready to be carried out
	decision access.Decision // what the policy demands of it
	waits    bool            // decision demands more votes than the caller's
	charges  store.Charges   // taken with the lease
	lease    store.Lease
	result   activity.Result // nil until the task was performed

	// record is the answer. In the submission of an activity that waits, it is the
	// record as it waits.
	record *activity.Record

	// resumed is the waiting activity that this request carried out: a vote or a
	// sweep.
	resumed *submission
}

func newSubmission(operation string) *submission {
	return &submission{Observation: Observation{Operation: operation}, started: time.Now()}
}

// carried returns the submission whose task is carried out: a vote's is that of the
// activity it is on.
func (s *submission) carried() *submission {
	if s.resumed != nil {
		return s.resumed
	}
	return s
}
