package store

import (
	"bytes"
	"time"
)

// Kind says what an entry of a [Ledger] is. Entries are locked in the order of
// their kinds, the lowest first, so that no two transactions wait for each
// other.
type Kind byte

// The kinds of this project, in their order.
const (
	KindLimit  Kind = 'A' + iota // what a limit has counted for one subject
	KindCharge                   // what one request was charged
	KindMeter                    // counters of one-time passwords
	KindCode                     // a one-time password
	KindVote                     // a vote that was refused
)

// Key names an entry within an organization.
type Key struct {
	Kind Kind
	ID   [32]byte // a hash
}

// Compare orders keys in the order in which they are locked.
func (k Key) Compare(other Key) int { return bytes.Compare(k.Bytes(), other.Bytes()) }

// Bytes returns the kind and the ID, 33 bytes whose order is that of keys.
func (k Key) Bytes() []byte { return append([]byte{byte(k.Kind)}, k.ID[:]...) }

// Entry is a value of a [Ledger]. Without a value the entry is not there.
type Entry struct {
	Value     []byte    // opaque to the store
	KeepUntil time.Time // Sweep removes it after this, to the millisecond
}

// Ledger is what a [Change] sees of a store: counters and other small values of
// one organization, within one transaction. One-time passwords and limits are
// kept in it.
type Ledger interface {
	// Lock returns the entries in the order of the keys, and locks them until
	// the transaction ends, whether they are there or not. A later call may not
	// lock keys of an earlier kind; more keys of the same kind only if all who
	// do so hold a key of an earlier kind in common, as one-time passwords are
	// guarded by the counters of their user. The values are the caller's to
	// change.
	Lock(keys ...Key) ([]Entry, error)

	// Read returns an entry as it was last committed or written here, without a
	// lock. The value is the caller's to change.
	Read(key Key) (Entry, error)

	// Write replaces an entry that is locked; without a value it is removed.
	// The ledger keeps the value: the caller must not change it afterwards.
	Write(key Key, entry Entry) error

	// Now returns the time that counts where several processes have to agree:
	// that of the store's own clock if they share it, otherwise the caller's.
	Now(caller time.Time) time.Time
}

// Change is something that happens to the ledger of an organization within one
// transaction of a store.
type Change interface {
	// Apply makes the change. With err nothing is written. With a refusal what
	// was written is kept: a wrong one-time password is refused, and counted.
	// Apply may be called again if the transaction could not be committed.
	Apply(ledger Ledger) (refusal, err error)
}

// ChangeFunc is a function that is a Change.
type ChangeFunc func(ledger Ledger) (refusal, err error)

// Apply implements Change.
func (f ChangeFunc) Apply(ledger Ledger) (refusal, err error) { return f(ledger) }

// apply makes a change that may be nil.
func apply(change Change, ledger Ledger) (refusal, err error) {
	if change == nil {
		return nil, nil
	}
	return change.Apply(ledger)
}
