// Package store is where activities and ledgers live: the contract,
// and what all stores share. The stores are in store/memory (default of the
// library; bounded, forgets), store/bolt (one file on one machine) and
// store/postgres (several machines on one database); store/storetest holds
// every one of them, and one of yours, against this contract.
//
// An activity goes through a store like this:
//
//	begun, err := store.Acquire(ctx, s, claim, clock, change)
//	switch {
//	case begun.Recorded != nil:   // done before: answer that again
//	case begun.Lease != nil:      // yours to do, then s.Complete, or s.Release on failure
//	}
//
// The answer leaves after Complete, and only if Complete returned nil.
package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// Errors that every store reports, for errors.Is.
var (
	// ErrLeaseLost: the lease ran out and the work was taken over, or it was
	// completed or released before. Nothing was written.
	ErrLeaseLost = errors.New("store: the lease was lost: another node has taken the work over")

	// ErrNotFound: the organization has no activity of this id.
	ErrNotFound = errors.New("store: no such activity")

	// ErrFull: a bounded store has no room for one more activity, and does not
	// make room by forgetting one that could still be asked for.
	ErrFull = errors.New("store: full: try again later, or give it more room")

	// ErrStale: nothing is recorded of the request, and it is not live any more,
	// or was forgotten: carrying it out could be doing so a second time.
	ErrStale = errors.New("store: the request is not live any more")

	// ErrUnavailable: the file or the database could not be read or written
	// now. It may be tried again.
	ErrUnavailable = errors.New("store: unavailable")

	// ErrChanged: the activity is not at the revision that was to be replaced, or
	// does not wait any more. Nothing was written.
	ErrChanged = errors.New("store: the activity has changed")

	// ErrHeld: the activity is being carried out under a lease. Nothing was
	// written. Begin with Claim.Revision waits for the end of it.
	ErrHeld = errors.New("store: the activity is being carried out")

	// ErrInUse: another process has the file open.
	ErrInUse = errors.New("store: in use by another process")

	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store: closed")
)

// LeaseGrace is how long after a lease expired Sweep leaves it to its holder,
// unless another node asks for it.
const LeaseGrace = time.Hour

// Fingerprint tells one request body from another: its SHA-256.
type Fingerprint = [sha256.Size]byte

// Activity is a recorded activity: done, or waiting until it can be. To a store
// it is bytes under two names, and what [Filter] looks at.
type Activity struct {
	ID             string // UUIDv7, unique within the organization; listings are in its order
	OrganizationID string
	Fingerprint    Fingerprint
	SubmittedBy    string    // the credential, opaque; decides whether it may be shown
	User           string    // id of the submitter, opaque; empty if there is none
	Type           string    // opaque
	Status         string    // opaque
	Waiting        bool      // it may still be replaced, or carried out
	Revision       uint64    // set by the store: 1 when first recorded, one more with each change
	Data           []byte    // the encoded record, opaque
	KeepUntil      time.Time // a store that forgets keeps it up to and including then; not before the claim's LiveUntil

	// Leaf is what Complete or Replace appends to the organization's log in the same
	// transaction, in a store that is a [Log]; nil: nothing. Begin and Get leave
	// it out.
	Leaf []byte
}

// Claim is what Begin needs to know of a request.
type Claim struct {
	OrganizationID string
	Fingerprint    Fingerprint
	LeaseTTL       time.Duration // how long the work may take without Renew

	// Now is the time for stores of one process. A store that several nodes
	// share goes by its own clock, in leases.
	Now time.Time

	// LiveUntil is the last instant at which the lease may be taken: a function
	// of the request alone. A store that forgets takes no request that could be
	// one it forgot. Zero: for ever; only a store that does not forget may be
	// asked that.
	LiveUntil time.Time

	// Revision, if it is not zero, is that of the recorded, waiting activity that
	// is to be carried out. LiveUntil is then not looked at.
	Revision uint64

	// Size is about how many bytes of Data will come, so that a bounded store
	// refuses before the work is done and not after.
	Size int
}

// Stale reports whether the claim came too late for a lease.
func (c *Claim) Stale() bool {
	return c.Revision == 0 && !c.LiveUntil.IsZero() && c.Now.After(c.LiveUntil)
}

// Takes reports whether the claim is for carrying out what is recorded.
func (c *Claim) Takes(recorded *Activity) bool {
	return recorded.Waiting && recorded.Revision == c.Revision
}

// Lease is the right to do the work of one request. It is a plain value;
// the store identifies the holder by Token.
type Lease struct {
	OrganizationID string
	Fingerprint    Fingerprint
	Token          uint64    // fencing token: greater than that of every earlier lease of the store
	Nonce          uint64    // random, where a crash can make the store give a token twice; otherwise zero
	Until          time.Time // by the store's clock
}

// BeginResult is the answer of Begin: exactly one of the three is set.
type BeginResult struct {
	// Lease: the work is the caller's.
	Lease *Lease

	// Recorded: the work was done before, or waits. The caller must not change
	// it.
	Recorded *Activity

	// Wait: another holder is doing it. Wait returns nil once it is worth
	// calling Begin again: the work was completed or released, or the lease ran
	// out. It returns the context's error if the context ends before, and
	// ErrClosed if the store is closed.
	Wait func(ctx context.Context) error
}

// Store keeps activities, and ledgers for one-time passwords and limits. Implementations are safe for
// concurrent use. Organizations are walls: nothing of one is found from another.
//
// Errors other than those named are wrapped in ErrUnavailable, or they are the
// context's. After an error of Complete that is not ErrLeaseLost, ErrFull or
// the change's own, the activity may or may not have been recorded; no answer
// may leave, and sending the same body again tells which.
type Store interface {
	// Begin takes the lease on a request, unless it was recorded or another
	// holds it. It writes organization, fingerprint and lease only. A lease
	// that ran out is taken over.
	//
	// With claim.Revision it takes the lease on an activity that waits, at that
	// revision; if there is none it returns ErrChanged, or what is recorded
	// instead.
	//
	// The change, if there is one, is made in the same transaction as the lease
	// is taken, and only then. If it refuses, what it wrote is kept, no lease
	// is taken, and the refusal is returned; with its error nothing is written.
	// In both cases a lease that had run out may be over.
	//
	// It returns ErrFull if the store has no room, and ErrStale if nothing is
	// recorded and claim.Now is after claim.LiveUntil, or a store that forgets
	// has forgotten a record whose KeepUntil was not before LiveUntil. Whatever
	// clocks do, no request is carried out twice.
	Begin(ctx context.Context, claim Claim, change Change) (BeginResult, error)

	// Renew makes the lease last ttl from now on. It returns ErrLeaseLost if
	// another holder has it or it is over; a lease that expired and was not taken
	// over can be renewed.
	Renew(ctx context.Context, lease Lease, ttl time.Duration, now time.Time) (Lease, error)

	// Complete records the activity and ends the lease. Of an activity that
	// waited, it replaces the record, which keeps its ID. A lease that expired
	// and was not taken over is enough. The change, if there is one, is
	// made in the same transaction; if it refuses or fails, nothing is written,
	// the lease goes on, and its error is returned. Organization and
	// fingerprint of the activity are those of the lease.
	Complete(ctx context.Context, lease Lease, activity Activity, change Change) error

	// Replace replaces an activity that waits, whose Revision is the given one,
	// and which is not being carried out. It returns ErrChanged or ErrHeld
	// otherwise. ID, organization, fingerprint and submitter stay. The change, if
	// there is one, is made in the same transaction; if it refuses or fails,
	// nothing is written. now is as in Claim.
	Replace(ctx context.Context, activity Activity, now time.Time, change Change) error

	// Release ends the lease without a result: the same body may be tried
	// again, and an activity that waited waits. The change, if there is one, is made in the same transaction. A
	// lease that was lost is not there to be released: ErrLeaseLost, and the
	// change is not made. The context should not be that of a request that
	// has ended.
	Release(ctx context.Context, lease Lease, change Change) error

	// Get returns an activity of an organization, or ErrNotFound. The caller
	// must not change its Data.
	Get(ctx context.Context, organizationID, id string) (Activity, error)

	// Find returns the activity of an organization that a request has, or
	// ErrNotFound. The caller must not change its Data.
	Find(ctx context.Context, organizationID string, fingerprint Fingerprint) (Activity, error)

	// List returns activities of an organization in the order of their IDs, the
	// greatest first: at least one if there is one, and else as many as Filter.Limit
	// and MaxListBytes have room for. Only an empty page says that there are no more.
	List(ctx context.Context, organizationID string, filter Filter) ([]Activity, error)

	// Count returns how many activities List would return, up to MaxList and
	// without regard to Filter.Limit.
	Count(ctx context.Context, organizationID string, filter Filter) (int, error)

	// Waiting returns activities of all organizations that wait, without Data, in
	// any order. It is for upkeep: no request may reach it.
	Waiting(ctx context.Context) ([]Activity, error)

	// Change makes a change in a transaction of its own and returns its refusal
	// or its error. A nil error means that it is durable.
	Change(ctx context.Context, organizationID string, change Change) error

	// Sweep removes what has expired at now: entries of ledgers, leases that ran
	// out LeaseGrace ago; and activities, in a store that forgets. A store that
	// several processes share removes no entry before its own clock is past its
	// KeepUntil.
	Sweep(ctx context.Context, now time.Time) (SweepStats, error)

	// Forgets tells whether completed activities are forgotten after their
	// KeepUntil. Where a request may be of any age, only a store that does not
	// may be used.
	Forgets() bool

	// Ping returns an error if the store could not do its work now.
	Ping(ctx context.Context) error

	// Close ends the store and wakes who waits. Closing again does nothing.
	Close() error
}

// SweepStats tells what Sweep removed.
type SweepStats struct {
	Activities int
	Leases     int
	Entries    int // of ledgers
}
