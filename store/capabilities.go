package store

import (
	"context"
	"errors"
	"time"
)

// Capabilities are what a store can do beyond the seven methods of [Store]. A member is nil
// if the store cannot do it. The stores of this project are [Full].
type Capabilities struct {
	Waiter  Waiter  // activities may wait for approvals
	Lister  Lister  // activities can be listed
	Sweeper Sweeper // what has expired is removed
	Pinger  Pinger  // the store says whether it can do its work
	Log     Log     // there is a transparency log
	Outbox  Outbox  // events are kept until they are delivered
	Forgets bool    // requests are only accepted for as long as their records are kept: see Retention
}

// CapabilitiesOf returns what a store can do. A nil store can do nothing.
func CapabilitiesOf(s Store) (can Capabilities) {
	can.Waiter, _ = s.(Waiter)
	can.Lister, _ = s.(Lister)
	can.Sweeper, _ = s.(Sweeper)
	can.Pinger, _ = s.(Pinger)
	can.Log, _ = s.(Log)
	can.Outbox, _ = s.(Outbox)
	keeps, ok := s.(Retention)
	can.Forgets = !ok || keeps.Forgets()
	return can
}

// Full is a store with all capabilities.
type Full interface {
	Store
	Waiter
	Lister
	Sweeper
	Pinger
	Retention
	Log
	Outbox
}

// Waiter is implemented by stores in which activities can wait for approvals.
type Waiter interface {
	// Replace replaces an activity that waits, is at the given Revision, and is not being carried
	// out; otherwise it returns ErrChanged or ErrHeld. ID, organization, fingerprint and submitter
	// stay. The change, which may be nil, is made in the same transaction; if it refuses or fails,
	// nothing is written. For now see Claim.Now.
	Replace(ctx context.Context, activity Activity, now time.Time, change Change) error

	// Find returns an activity that waits or has waited, by the fingerprint of its
	// request, or ErrNotFound. The caller must not modify its Data.
	Find(ctx context.Context, organizationID string, fingerprint Fingerprint) (Activity, error)

	// Waiting returns the waiting activities of all organizations, without Data and
	// in any order. It is for maintenance and must not be reachable by requests.
	Waiting(ctx context.Context) ([]Activity, error)
}

// Lister is implemented by stores that can list activities.
type Lister interface {
	// List returns activities of an organization in descending order of their IDs:
	// as many as Filter.Limit and MaxListBytes allow, and at least one if there is
	// one. Only an empty page means that there are no more.
	List(ctx context.Context, organizationID string, filter Filter) ([]Activity, error)
}

// Sweeper is implemented by stores that remove expired entries on request.
type Sweeper interface {
	// Sweep removes what has expired at now: ledger entries, leases that expired
	// LeaseGrace ago and, in a store that forgets, activities. A store that several
	// processes share removes no entry before its own clock is past KeepUntil.
	Sweep(ctx context.Context, now time.Time) (SweepStats, error)
}

// SweepStats counts what Sweep removed.
type SweepStats struct {
	Activities int
	Leases     int
	Entries    int // of ledgers
}

// Pinger is implemented by stores whose file or database may be unavailable.
type Pinger interface {
	// Ping returns an error if the store cannot do its work at the moment.
	Ping(ctx context.Context) error
}

// Retention is implemented by stores that can keep completed activities forever. A store
// that does not implement it is assumed to forget them.
type Retention interface {
	// Forgets reports whether completed activities are forgotten after their KeepUntil. Requests of
	// any age may only be accepted with a store that does not forget.
	Forgets() bool
}

// Recorded returns the activity that a request has, done or waiting, or nil if none is
// recorded. It takes no lease, and ignores the claim's LiveUntil, Sent and Of.
func Recorded(ctx context.Context, s Store, claim Claim) (*Activity, error) {
	claim.Sent, claim.Of, claim.Revision = time.Time{}, nil, 0
	claim.LiveUntil = claim.Now.Add(-1)
	begun, err := s.Begin(ctx, claim, nil)
	if errors.Is(err, ErrStale) {
		err = nil
	}
	return begun.Recorded, err
}

// Acquire calls Begin until the caller has the lease or the work is recorded, waiting
// while another holder has the lease. Wait is never set in its result. The claim's Now
// is read from the clock before each attempt, and change, which may be nil, is called
// with it to create the attempt's change.
func Acquire(ctx context.Context, s Store, claim Claim, clock func() time.Time,
	change func(now time.Time) Change) (BeginResult, error) {
	for {
		claim.Now = clock()
		var attempted Change
		if change != nil {
			attempted = change(claim.Now)
		}
		begun, err := s.Begin(ctx, claim, attempted)
		if err != nil || begun.Wait == nil {
			return begun, err
		}
		if err := begun.Wait(ctx); err != nil {
			return BeginResult{}, err
		}
	}
}
