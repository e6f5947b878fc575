package storetest

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// rehearsing is a store that makes each change twice, as a store does whose database rolled the
// first attempt back: what the first wrote is gone, and what counts is the second. Changes that
// remember something between the two, or tell it outside, fail the tests.
type rehearsing struct{ store.Store }

// Begin implements store.Store.
func (r rehearsing) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	return r.Store.Begin(ctx, claim, twice(change))
}

// Complete implements store.Store.
func (r rehearsing) Complete(ctx context.Context, lease store.Lease, activity store.Activity,
	change store.Change) error {
	return r.Store.Complete(ctx, lease, activity, twice(change))
}

// Release implements store.Store.
func (r rehearsing) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	return r.Store.Release(ctx, lease, twice(change))
}

// Change implements store.Store.
func (r rehearsing) Change(ctx context.Context, organizationID string, change store.Change) error {
	return r.Store.Change(ctx, organizationID, twice(change))
}

// rehearsingWaiter is a store.Waiter that makes each change twice.
type rehearsingWaiter struct{ store.Waiter }

// Replace implements store.Waiter.
func (r rehearsingWaiter) Replace(ctx context.Context, activity store.Activity, now time.Time,
	change store.Change) error {
	return r.Waiter.Replace(ctx, activity, now, twice(change))
}

// twice returns a change that is made over a draft of the ledger, and then over the ledger.
func twice(change store.Change) store.Change {
	if change == nil {
		return nil
	}
	return store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		_, _ = change.Apply(draft{ledger, map[store.Key]store.Entry{}})
		return change.Apply(ledger)
	})
}

// draft is a ledger whose writes are forgotten. It locks what the ledger locks.
type draft struct {
	store.Ledger
	written map[store.Key]store.Entry
}

// Lock implements store.Ledger.
func (d draft) Lock(keys ...store.Key) ([]store.Entry, error) {
	entries, err := d.Ledger.Lock(keys...)
	for i := range entries {
		if written, ok := d.written[keys[i]]; ok {
			entries[i] = written
		}
	}
	return entries, err
}

// Read implements store.Ledger.
func (d draft) Read(key store.Key) (store.Entry, error) {
	if written, ok := d.written[key]; ok {
		return written, nil
	}
	return d.Ledger.Read(key)
}

// Write implements store.Ledger.
func (d draft) Write(key store.Key, entry store.Entry) error {
	d.written[key] = entry
	return nil
}
