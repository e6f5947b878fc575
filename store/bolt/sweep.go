package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// sweepStep bounds how many entries one transaction sweeps, since other changes wait for
// it.
const sweepStep = 1000

// Sweep implements store.Sweeper. Activities stay.
func (s *Store) Sweep(ctx context.Context, now time.Time) (swept store.SweepStats, err error) {
	swept.Leases = s.leases.Sweep(now)
	for more := true; more; {
		var step store.SweepStats
		err := s.write(ctx, func(tx *transaction) (err error) {
			step, more, err = tx.sweep(now)
			return err
		})
		if err != nil {
			return swept, err
		}
		swept.Entries += step.Entries
	}
	return swept, nil
}

// sweep removes what has expired, up to sweepStep.
func (t *transaction) sweep(now time.Time) (swept store.SweepStats, more bool, err error) {
	all := t.due(now)
	for _, due := range all {
		if err := t.remove(bucketExpiry, due); err != nil {
			return swept, false, err
		}
		removed, err := t.sweepEntry(due[keepUntilSize:], now)
		if err != nil {
			return swept, false, err
		}
		swept.Entries += removed
	}
	return swept, len(all) == sweepStep, nil
}

// due returns copies of the expiry keys strictly before now: an entry that is kept until
// now is still kept.
func (t *transaction) due(now time.Time) (keys [][]byte) {
	end := binary.BigEndian.AppendUint64(nil, milliseconds(now))
	cursor := t.tx.Bucket(bucketExpiry).Cursor()
	for key, _ := cursor.First(); len(key) >= keepUntilSize && bytes.Compare(key[:8], end) < 0 &&
		len(keys) < sweepStep; key, _ = cursor.Next() {
		keys = append(keys, slices.Clone(key))
	}
	return keys
}

// sweepEntry removes an entry, or, if it is now kept longer, adds it to the expiry bucket
// again.
func (t *transaction) sweepEntry(key []byte, now time.Time) (removed int, err error) {
	value := t.get(bucketLedgers, key)
	entry, err := decodeEntry(value)
	switch {
	case value == nil: // already removed
	case err == nil && !now.After(entry.KeepUntil):
		return 0, t.expireAt(milliseconds(entry.KeepUntil), key)
	default:
		removed = 1
	}
	return removed, t.remove(bucketLedgers, key)
}
