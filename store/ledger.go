package store

import (
	"bytes"
	"time"
)

// Kind is the kind of an entry of a [Ledger]. Entries are locked in ascending order of
// their kinds, so that no two transactions wait for each other.
type Kind byte

// The kinds, in their order.
const (
	KindLimit  Kind = 'A' + iota // what a limit has counted for one subject
	KindCharge                   // what one request was charged
	KindMeter                    // counters of one-time passwords
	KindCode                     // a one-time password
	KindVote                     // a refused vote
	KindCall                     // the latest body of a call without a stamp
	KindHome                     // the mark of an organization in its store: see Sharded
)

// Key names an entry within an organization.
type Key struct {
	Kind Kind
	ID   [32]byte // a hash
}

// Compare orders keys as they are locked.
func (k Key) Compare(other Key) int { return bytes.Compare(k.Bytes(), other.Bytes()) }

// Bytes returns the kind and the ID: 33 bytes, which sort as the keys do.
func (k Key) Bytes() []byte { return append([]byte{byte(k.Kind)}, k.ID[:]...) }

// Entry is a value of a [Ledger]. An entry without a value does not exist.
type Entry struct {
	Value     []byte    // opaque to the store
	KeepUntil time.Time // Sweep removes it after this, to the millisecond
}

// Ledger is a [Change]'s view of a store: counters and other small values of one
// organization, within one transaction. It holds one-time passwords and limits.
type Ledger interface {
	// Lock returns the entries in the order of the keys, and locks them until the
	// transaction ends, whether they exist or not. A later call must not lock keys of
	// an earlier kind. It may lock more keys of the same kind only if all callers that
	// do so hold a common key of an earlier kind, as one-time passwords are guarded by
	// the counters of their user. The caller may modify the values.
	Lock(keys ...Key) ([]Entry, error)

	// Read returns an entry as last committed, or as written in this transaction,
	// without locking it. The caller may modify the value.
	Read(key Key) (Entry, error)

	// Write replaces a locked entry, or removes it if the new one has no value. The
	// ledger keeps the value: the caller must not modify it afterwards.
	Write(key Key, entry Entry) error

	// Now returns the time on which several processes agree: that of the store's own
	// clock if they share the store, otherwise the caller's.
	Now(caller time.Time) time.Time
}

// Change is a change of an organization's ledger within one transaction of a store.
type Change interface {
	// Apply makes the change. If it returns an error, nothing is written. If it
	// returns a refusal, what it wrote is kept: a wrong one-time password is refused
	// and counted. Apply may be called again if the transaction cannot be committed.
	Apply(ledger Ledger) (refusal, err error)
}

// ChangeFunc is an adapter that makes a function a Change.
type ChangeFunc func(ledger Ledger) (refusal, err error)

func (f ChangeFunc) Apply(ledger Ledger) (refusal, err error) { return f(ledger) }

// apply makes a change that may be nil.
func apply(change Change, ledger Ledger) (refusal, err error) {
	if change == nil {
		return nil, nil
	}
	return change.Apply(ledger)
}
