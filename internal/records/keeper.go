// Package records turns requests into recorded activities. It takes a lease, carries out the
// task under it, and stores the record before the request is answered.
package records

import (
	"crypto"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// BeginAttempts bounds how often a Decider is asked about one request. It is asked
// again if other requests used up a limit between its answer and the lease.
const BeginAttempts = 3

// Keeper keeps the records of an engine.
type Keeper struct {
	Store       store.Store
	Waiter      store.Waiter  // of the store; nil: no activity can wait
	ProofSigner crypto.Signer // may be nil
	Log         store.Log     // of the store: activities that end are appended to it; nil: there is no log
	Logger      *slog.Logger
	Now         func() time.Time
	Window      time.Duration // how long a request is live, with the skew of its clock
	AnyTime     bool          // requests of any age are live
	MaxWaiting  time.Duration
	LeaseTTL    time.Duration
	Events      []activity.EventType // written into the outbox of the store, with what they are about
	Names       chains.Names         // for what records and events say; may be nil
}

// recordOverhead is about how many bytes a record has in addition to the body and the
// signed transaction.
const recordOverhead = 2 << 10

// Claim describes a request to the store.
func (k *Keeper) Claim(s *request.Submission) store.Claim {
	request := s.Request
	claim := store.Claim{
		OrganizationID: request.OrganizationID,
		Fingerprint:    request.Fingerprint,
		At:             request.TimestampMs,
		LeaseTTL:       k.LeaseTTL,
		LiveUntil:      k.LiveUntil(request.Time()),
		Size:           2*len(request.Body) + recordOverhead,
	}
	if k.Log != nil {
		claim.Sent, claim.Of = request.Time(), s
	}
	return claim
}

// LiveUntil returns the last instant at which a lease on the request may be taken.
// Adding the skew to the age leaves time for a slow policy to a request that was live
// when it arrived. The result depends only on the body and the configuration, so that a
// store that forgets activities can tell which ones it may have forgotten.
func (k *Keeper) LiveUntil(sent time.Time) time.Time {
	if k.AnyTime {
		return time.Time{}
	}
	return sent.Add(k.Window)
}

// Spent returns a reader of what limits have counted of all requests except one, which
// may have been charged by a process that died.
func (k *Keeper) Spent(except store.Fingerprint) access.SpentReader {
	return store.NewSpending(k.Store, except, k.Now)
}

// forever is how long a store that does not forget keeps the time of a call's latest body.
var forever = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// Noted returns a change that begins a submission, which may be nil. That of a call also
// notes which body is the latest, for as long as its record is kept.
func (k *Keeper) Noted(s *request.Submission, change store.Change) store.Change {
	if s.Call == nil {
		return change
	}
	until := forever
	if store.CapabilitiesOf(k.Store).Forgets {
		until = s.Request.Time().Add(k.MaxWaiting + 2*k.Window)
	}
	return s.Call.Take(change, until)
}
