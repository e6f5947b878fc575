package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// Observer counts and times what the engine does. It is called while requests wait and
// must not block.
type Observer interface {
	// Observe is called once for each submitted request and each query, and for each
	// call to sign if there is a Policy or a Submitter.
	Observe(observation Observation)
}

// Observation is one request.
type Observation struct {
	Operation string          // path of the operation, such as "sign_transaction"; empty if the body did not say
	Reason    activity.Reason // why it was refused; empty if it was not
	Repeated  bool            // the answer was recorded before
	Waits     bool            // a request, or the one that a vote is on, waits for approvals
	Duration  time.Duration   // of the whole request
	Performed time.Duration   // of signing, or of issuing and delivering a password; 0 if it did not come to that
}

type requestIDKey struct{}

// WithRequestID returns a context whose requests are logged with this id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

type remoteKey struct{}

// WithRemote returns a context whose requests are logged with the address that they
// came from.
func WithRemote(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, remoteKey{}, address)
}
