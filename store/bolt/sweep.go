package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// sweepStep bounds how much one transaction sweeps: others wait for it.
const sweepStep = 1000

// Sweep implements store.Store. Activities stay.
func (s *Store) Sweep(ctx context.Context, now time.Time) (swept store.Swept, err error) {
	swept.Leases = s.leases.Sweep(now)
	for more := true; more; {
		if err := s.usable(ctx); err != nil {
			return swept, err
		}
		var step store.Swept
		err := s.writer.write(func(tx *transaction) (err error) {
			step, more, err = tx.sweep(now)
			return err
		}, nil)
		if err != nil {
			return swept, err
		}
		swept.Codes += step.Codes
		swept.Meters += step.Meters
	}
	return swept, nil
}

// sweep removes what has expired, up to sweepStep.
func (t *transaction) sweep(now time.Time) (swept store.Swept, more bool, err error) {
	all := t.due(now)
	for _, due := range all {
		kind, key := due[8], due[9:]
		if err := t.remove(bucketExpiry, due); err != nil {
			return swept, false, err
		}
		switch kind {
		case expireCode:
			swept.Codes++
			err = t.remove(bucketCodes, key)
		case expireMeter:
			var removed int
			removed, err = t.sweepMeter(key, now)
			swept.Meters += removed
		}
		if err != nil {
			return swept, false, err
		}
	}
	return swept, len(all) == sweepStep, nil
}

// due returns copies of the keys that are due: strictly before now, since what
// is kept until now is still kept.
func (t *transaction) due(now time.Time) (keys [][]byte) {
	end := binary.BigEndian.AppendUint64(nil, uint64(max(0, now.UnixMilli())))
	cursor := t.tx.Bucket(bucketExpiry).Cursor()
	for key, _ := cursor.First(); key != nil && bytes.Compare(key[:8], end) < 0 && len(keys) < sweepStep; key, _ = cursor.Next() {
		keys = append(keys, slices.Clone(key))
	}
	return keys
}

// sweepMeter removes a meter, unless it was extended: then it is due later.
func (t *transaction) sweepMeter(key []byte, now time.Time) (removed int, err error) {
	meter, err := otp.ParseMeter(t.get(bucketMeters, key))
	if err == nil && !now.After(meter.KeepUntil()) {
		return 0, t.expireAt(meter.KeepUntil(), expireMeter, key)
	}
	return 1, t.remove(bucketMeters, key)
}
