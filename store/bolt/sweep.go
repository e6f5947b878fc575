package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// sweepStep bounds how many entries one transaction sweeps, since other changes wait for it.
const sweepStep = 1000

// Sweep implements store.Sweeper. Activities stay.
func (s *Store) Sweep(ctx context.Context, now time.Time) (swept store.SweepStats, err error) {
	swept.Leases = s.leases.Sweep(now)
	for more := true; more; {
		entries := 0
		err := s.write(ctx, func(tx *transaction) error {
			entries, more = tx.sweep(now)
			return nil
		})
		if err != nil {
			return swept, err
		}
		swept.Entries += entries
	}
	return swept, nil
}

// sweep removes what has expired, up to sweepStep.
func (t *transaction) sweep(now time.Time) (entries int, more bool) {
	// The expiry keys are copied. An entry that is kept until now is still kept.
	var all [][]byte
	end := binary.BigEndian.AppendUint64(nil, milliseconds(now))
	cursor := t.tx.Bucket(bucketExpiry).Cursor()
	for key, _ := cursor.First(); len(key) >= keepUntilSize && bytes.Compare(key[:8], end) < 0 &&
		len(all) < sweepStep; key, _ = cursor.Next() {
		all = append(all, slices.Clone(key))
	}
	for _, due := range all {
		t.remove(bucketExpiry, due)
		if t.sweepEntry(due[keepUntilSize:], now) {
			entries++
		}
	}
	return entries, len(all) == sweepStep
}

// sweepEntry removes an entry, or, if it is now kept longer, adds it to the expiry bucket again.
func (t *transaction) sweepEntry(key []byte, now time.Time) (removed bool) {
	value := t.get(bucketLedgers, key)
	entry, err := decodeEntry(value)
	if value != nil && err == nil && !now.After(entry.KeepUntil) {
		t.expireAt(milliseconds(entry.KeepUntil), key)
		return false
	}
	t.remove(bucketLedgers, key)
	return value != nil
}
