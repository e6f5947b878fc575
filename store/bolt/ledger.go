package bolt

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// ledger is a store.Ledger over a transaction. The writer makes one change at a time, so
// entries need no locks.
type ledger struct {
	*transaction
	organization string
}

var _ store.Ledger = ledger{}

func (t *transaction) ledger(organizationID string) ledger { return ledger{t, organizationID} }

func (l ledger) Lock(keys ...store.Key) ([]store.Entry, error) {
	entries := make([]store.Entry, len(keys))
	for i, key := range keys {
		var err error
		if entries[i], err = l.Read(key); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Read implements store.Ledger. It copies: the file's memory must not be used after the
// transaction.
func (l ledger) Read(key store.Key) (store.Entry, error) {
	return decodeEntry(l.get(bucketLedgers, within(l.organization, key.Bytes())))
}

// keepUntilSize is the length of the time before an entry's value.
const keepUntilSize = 8

func decodeEntry(in []byte) (entry store.Entry, err error) {
	if in == nil {
		return entry, nil
	}
	if len(in) < keepUntilSize {
		return entry, fmt.Errorf("%w: an entry of a ledger is damaged: it has %d bytes", store.ErrUnavailable, len(in))
	}
	entry.KeepUntil = time.UnixMilli(int64(binary.BigEndian.Uint64(in))).UTC()
	entry.Value = slices.Clone(in[keepUntilSize:])
	return entry, nil
}

// Write implements store.Ledger. An entry that is now kept longer keeps its place in the
// expiry bucket: Sweep moves it when it comes up.
func (l ledger) Write(key store.Key, entry store.Entry) error {
	entryKey := within(l.organization, key.Bytes())
	before := l.get(bucketLedgers, entryKey)
	if entry.Value == nil {
		if before == nil {
			return nil
		}
		l.remove(bucketLedgers, entryKey)
		return l.err
	}
	until := milliseconds(entry.KeepUntil)
	if len(before) < keepUntilSize || until < binary.BigEndian.Uint64(before) {
		l.expireAt(until, entryKey)
	}
	l.put(bucketLedgers, entryKey, append(binary.BigEndian.AppendUint64(nil, until), entry.Value...))
	return l.err
}

func (l ledger) Now(caller time.Time) time.Time { return caller }

// expireAt adds an entry to the expiry bucket: time 8 ‖ key.
func (t *transaction) expireAt(until uint64, key []byte) {
	t.put(bucketExpiry, append(binary.BigEndian.AppendUint64(nil, until), key...), nil)
}

func milliseconds(at time.Time) uint64 { return uint64(max(0, at.UnixMilli())) }
