// Package store defines where activities and ledgers are kept: the [Store] contract and
// the code that all stores share. The implementations are store/memory (the library's
// default: bounded, forgets), store/bolt (one file on one machine) and store/postgres
// (several machines on one database). Package store/storetest is the contract as a test
// suite, for these stores and for yours.
//
// An activity goes through a store like this:
//
//	begun, err := store.Acquire(ctx, s, claim, clock, change)
//	switch {
//	case begun.Recorded != nil:   // done before: return the same answer
//	case begun.Lease != nil:      // do the work, then call s.Complete, or s.Release on failure
//	}
//
// The answer may leave only after Complete has returned nil.
package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/translog"
)

// Errors that every store reports, for errors.Is.
var (
	// ErrLeaseLost: the lease expired and another node took the work over, or the
	// work was already completed or released. Nothing was written.
	ErrLeaseLost = errors.New("store: the lease was lost: another node has taken the work over")

	// ErrNotFound: the organization has no activity with this id.
	ErrNotFound = errors.New("store: no such activity")

	// ErrFull: a bounded store has no room for another activity, and does not
	// make room by forgetting one that a client may still ask for.
	ErrFull = errors.New("store: full: try again later, or give it more room")

	// ErrStale: the request is not recorded and no longer live, or its record was
	// forgotten: carrying it out could be doing so a second time.
	ErrStale = errors.New("store: the request is no longer live")

	// ErrConflict: the log of the organization does not extend what a node had seen
	// committed, so that requests may have been answered of which this store knows
	// nothing. Nothing was written, and nothing is until an operator accepts the loss.
	ErrConflict = errors.New("store: the log is behind what a node has seen, or has another history: run " +
		"'countersign log accept'")

	// ErrStopped: signing is stopped for the organization, a user or a key: nothing was
	// written. The error is a *StoppedError.
	ErrStopped = errors.New("store: signing is stopped")

	// ErrUnavailable: the file or the database cannot be read or written at the
	// moment. The call may be retried.
	ErrUnavailable = errors.New("store: unavailable")

	// ErrMoved: the organization is in another store, or on the way to it: see [Move]. It is
	// ErrUnavailable, too, until the new configuration is loaded. Nothing was written.
	ErrMoved = fmt.Errorf("%w: the organization moves to another store, or has moved: name that one in the "+
		"configuration, and reload it", ErrUnavailable)

	// ErrChanged: the activity is at another revision than the one to be replaced,
	// or no longer waits. Nothing was written.
	ErrChanged = errors.New("store: the activity has changed")

	// ErrHeld: the activity is being carried out under a lease. Nothing was
	// written. Begin with Claim.Revision waits until it is done.
	ErrHeld = errors.New("store: the activity is being carried out")

	// ErrInUse: another process has the file open.
	ErrInUse = errors.New("store: in use by another process")

	// ErrNone: there is no store, or an empty file in place of one. Nothing was written.
	ErrNone = errors.New("store: there is none")

	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store: closed")
)

// LeaseGrace is how long Sweep leaves an expired lease to its holder, unless
// another node asks for it.
const LeaseGrace = time.Hour

// Fingerprint identifies a request body: its SHA-256.
type Fingerprint = [sha256.Size]byte

// Activity is a recorded activity: carried out, or waiting for approvals. To a store it is
// opaque bytes, found by ID or Fingerprint, and the members that [Filter] selects by.
type Activity struct {
	ID             string // UUIDv7, unique within the organization; listings are in its order
	OrganizationID string
	Fingerprint    Fingerprint
	At             int64     // see Claim
	SubmittedBy    string    // the credential, opaque; decides whether it may be shown
	User           string    // id of the submitter, opaque; empty if there is none
	Type           string    // opaque
	Status         string    // opaque
	Waiting        bool      // it may still be replaced or carried out
	Revision       uint64    // set by the store: 1 when first recorded, increased by each change
	Data           []byte    // the encoded record, opaque
	KeepUntil      time.Time // a store that forgets keeps it until then, inclusive; not before the claim's LiveUntil

	// Leaf is appended to the organization's log by Complete or Replace, in the same
	// transaction, in a store that is a [Log]. If it is nil, nothing is appended.
	// Begin and Get do not return it.
	Leaf []byte

	// Event is added to the outbox by Complete or Replace, in the same transaction, in a store that
	// is an [Outbox]. If it is nil, nothing is added. Begin and Get do not return it.
	Event *Event

	// Most bounds how many activities wait, in a store that is a [Waiter]. Complete looks in
	// the same transaction: it records an activity that waits only if fewer others of its
	// user and of its organization do, and otherwise returns a *CrowdedError, with the lease
	// kept. Begin and Get do not return it.
	Most Crowd

	// Sent is when the request was sent, by its own time, if the organization has a log.
	// A store that is a [Log] then records nothing while the log has a conflict, and
	// Complete returns a *SupersededError if the request was sent before the log was
	// accepted. Begin and Get do not return it.
	Sent time.Time
	// Of is what the activity is, for the stops of a log: with Sent, Complete returns a
	// *StoppedError if one applies to it. Nil is what no stop applies to. Begin and Get do
	// not return it.
	Of Stoppable
	// Stops, if not nil, changes the stops of the log in the transaction in which Complete
	// appends Leaf. If it fails, nothing is written, and Complete returns its error. It may be
	// called again. Begin and Get do not return it.
	Stops func([]translog.Stop) ([]translog.Stop, error)
}

// Claim describes a request to Begin.
type Claim struct {
	OrganizationID string
	Fingerprint    Fingerprint
	LeaseTTL       time.Duration // how long the work may take without Renew

	// At is the time that the body itself names, in milliseconds since the epoch; 0 if it
	// names none. It must be a function of the body alone, whatever the configuration: a
	// store may look for a request under At and Fingerprint, so that the entries of new
	// requests are next to each other.
	At int64

	// Now is the time in stores that belong to one process. In a store that
	// several nodes share, leases go by the store's own clock.
	Now time.Time

	// LiveUntil is the last instant at which the lease may be taken. It must be a function of the
	// request alone: a store that forgets uses it to refuse requests whose record it may have
	// forgotten. Zero means no limit, which is allowed only for stores that do not forget.
	LiveUntil time.Time

	// Sent and Of are those of the activity to come: Begin refuses what Complete would. What
	// other nodes have stopped may be refused by Complete alone.
	Sent time.Time
	Of   Stoppable

	// Revision, if not zero, is the revision of the waiting activity that is to be
	// carried out. LiveUntil is then ignored.
	Revision uint64

	// Size is the approximate length of the Data to come, so that a bounded store
	// can refuse before the work is done.
	Size int
}

// Stale reports whether the claim is too late for a lease.
func (c *Claim) Stale() bool {
	return c.Revision == 0 && !c.LiveUntil.IsZero() && c.Now.After(c.LiveUntil)
}

// Takes reports whether the claim is for carrying out the recorded activity.
func (c *Claim) Takes(recorded *Activity) bool {
	return recorded.Waiting && recorded.Revision == c.Revision
}

// Lease is the right to do the work of one request. It is a plain value; the store
// identifies the holder by Token.
type Lease struct {
	OrganizationID string
	Fingerprint    Fingerprint
	At             int64
	Token          Token
	Until          time.Time // by the store's clock
}

// Token names a lease: no store issues one twice, also after a crash in which it forgot
// leases. Tokens have no order.
type Token [16]byte

// NewToken returns a random token.
func NewToken() (token Token) {
	_, _ = rand.Read(token[:]) // never fails
	return token
}

// BeginResult is the result of Begin. Exactly one member is set.
type BeginResult struct {
	// Lease gives the work to the caller.
	Lease *Lease

	// Recorded is the activity if it was recorded before: done, or waiting. The
	// caller must not modify it.
	Recorded *Activity

	// Wait is set if another holder is doing the work. It returns nil when Begin should be called
	// again: the work was completed or released, or the lease expired. It returns the context's
	// error if the context ends first, and ErrClosed if the store is closed.
	Wait func(ctx context.Context) error
}

// Store keeps activities, and ledgers for one-time passwords and limits. Implementations
// must be safe for concurrent use. Organizations are isolated: nothing that belongs to
// one can be found from another. What else a store can do is in [Capabilities].
//
// Errors other than the named ones wrap ErrUnavailable, or are the context's. If Complete returns
// an error that is neither ErrLeaseLost, nor ErrFull, nor the change's own, the activity may or may
// not have been recorded: no answer may leave, and sending the same body again finds out.
type Store interface {
	// Begin takes the lease on a request, unless the request is recorded or another holder has the
	// lease. It writes organization, fingerprint and lease only. An expired lease is taken over.
	//
	// With claim.Revision it takes the lease on the activity that waits at that revision; if there
	// is none it returns ErrChanged, or what is recorded instead.
	//
	// The change, which may be nil, is made in the transaction that takes the lease,
	// and only if the lease is taken. If it returns a refusal, what it wrote is kept,
	// no lease is taken, and Begin returns the refusal; if it returns an error,
	// nothing is written. In both cases a lease that had expired may be gone.
	//
	// Begin returns ErrFull if the store has no room. It returns ErrStale if nothing
	// is recorded and claim.Now is after claim.LiveUntil, or if a store that forgets
	// has forgotten a record whose KeepUntil was not before LiveUntil. No request is
	// carried out twice, whatever the clocks do. A claim that is stale takes no lease,
	// but is answered from the record: see [Recorded].
	Begin(ctx context.Context, claim Claim, change Change) (BeginResult, error)

	// Renew extends the lease to ttl from now. It returns ErrLeaseLost if the lease is over or
	// another holder has it; an expired lease that was not taken over can be renewed.
	Renew(ctx context.Context, lease Lease, ttl time.Duration, now time.Time) (Lease, error)

	// Complete records the activity and ends the lease. If the activity waited, its record is
	// replaced and keeps its ID. An expired lease that was not taken over is enough. The change,
	// which may be nil, is made in the same transaction; if it refuses or fails, nothing is
	// written, the lease continues, and Complete returns its error. Organization, fingerprint and
	// At of the activity are taken from the lease.
	Complete(ctx context.Context, lease Lease, activity Activity, change Change) error

	// Release ends the lease without a result: the same body may be tried again, and an activity
	// that waited continues to wait. The change, which may be nil, is made in the same transaction.
	// If the lease was lost, Release returns ErrLeaseLost and does not make the change. The context
	// should not be that of a request that has ended.
	Release(ctx context.Context, lease Lease, change Change) error

	// Get returns an activity of an organization, or ErrNotFound. The caller must
	// not modify its Data.
	Get(ctx context.Context, organizationID, id string) (Activity, error)

	// Change makes a change in a transaction of its own and returns the change's
	// refusal or error. If it returns nil, the change is durable.
	Change(ctx context.Context, organizationID string, change Change) error

	// Close closes the store and wakes waiting callers. Closing it again does nothing.
	Close() error
}
