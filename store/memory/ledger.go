package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// entry is an entry of a ledger. A removed entry stays, without a value, until its
// element of the heap comes up.
type entry struct {
	store.Entry
	due time.Time // when its element of the heap comes up
}

func (e *entry) cost() int { return entryCost + cap(e.Value) }

// ledger is a store.Ledger over the map. It records how to undo its writes.
type ledger struct {
	store        *Store
	organization string
	undo         []func()
}

var _ store.Ledger = (*ledger)(nil)

// apply makes a change, if there is one. An error undoes what it wrote, and so does the
// refusal of a change that is to be made as a whole.
func (s *Store) apply(organizationID string, change store.Change, whole bool) error {
	if change == nil {
		return nil
	}
	l := &ledger{store: s, organization: organizationID}
	refusal, err := change.Apply(l)
	if err != nil || whole && refusal != nil {
		for _, undo := range slices.Backward(l.undo) {
			undo()
		}
	}
	return cmp.Or(err, refusal)
}

// Lock implements store.Ledger. The whole store is locked already.
func (l *ledger) Lock(keys ...store.Key) ([]store.Entry, error) {
	entries := make([]store.Entry, len(keys))
	for i, key := range keys {
		entries[i], _ = l.Read(key)
	}
	return entries, nil
}

func (l *ledger) Read(key store.Key) (store.Entry, error) {
	kept := l.store.entries[entryKey{l.organization, key}]
	if kept == nil {
		return store.Entry{}, nil
	}
	return store.Entry{Value: slices.Clone(kept.Value), KeepUntil: kept.KeepUntil}, nil
}

// Write implements store.Ledger. Only a new entry asks for room: the growth of an entry
// is bounded by its own format.
func (l *ledger) Write(key store.Key, written store.Entry) error {
	entryAt := entryKey{l.organization, key}
	kept := l.store.entries[entryAt]
	if kept == nil {
		if written.Value == nil {
			return nil
		}
		kept = &entry{}
		if err := l.store.room(entryCost + cap(written.Value)); err != nil {
			return err
		}
		l.store.entries[entryAt] = kept
		l.store.used += kept.cost()
	}
	before := kept.Entry
	l.set(entryAt, kept, written)
	l.undo = append(l.undo, func() { l.set(entryAt, kept, before) })
	return nil
}

// set replaces the value of an entry, and adds it to the heap so that it expires in time.
func (l *ledger) set(key entryKey, kept *entry, written store.Entry) {
	l.store.used -= kept.cost()
	kept.Entry = written
	if written.Value == nil {
		kept.KeepUntil = time.Time{}
	}
	l.store.used += kept.cost()
	if kept.due.IsZero() || written.Value != nil && kept.KeepUntil.Before(kept.due) {
		kept.due = kept.KeepUntil
		l.store.expiry.add(expiring{at: kept.due, organization: key.organization, key: key.key.ID, kind: key.key.Kind})
	}
}

func (l *ledger) Now(caller time.Time) time.Time {
	l.store.seen = caller
	return caller
}
