package bolt

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// ledger is an otp.Ledger over a transaction. The writer makes one change after
// the other: what is read stays so.
type ledger struct {
	*transaction
	organization string
}

var _ otp.Ledger = ledger{}

func (t *transaction) ledger(organizationID string) ledger { return ledger{t, organizationID} }

// Meters implements otp.Ledger.
func (l ledger) Meters(keys ...otp.MeterKey) ([]otp.Meter, error) {
	meters := make([]otp.Meter, len(keys))
	for i, key := range keys {
		meter, err := otp.ParseMeter(l.get(bucketMeters, within(l.organization, key[:])))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		meters[i] = meter
	}
	return meters, nil
}

// SetMeter implements otp.Ledger.
func (l ledger) SetMeter(key otp.MeterKey, meter otp.Meter) error {
	at := within(l.organization, key[:])
	if l.get(bucketMeters, at) == nil {
		if err := l.expireAt(meter.KeepUntil(), expireMeter, at); err != nil {
			return err
		}
	}
	return l.put(bucketMeters, at, meter.Append(nil))
}

// Code implements otp.Ledger.
func (l ledger) Code(id string) (code otp.Code, err error) {
	value := l.get(bucketCodes, within(l.organization, []byte(id)))
	if value == nil {
		return code, otp.ErrUnknown
	}
	if err := json.Unmarshal(value, &code); err != nil {
		return code, fmt.Errorf("%w: one-time password %s: %w", store.ErrUnavailable, id, err)
	}
	return code, nil
}

// Insert implements otp.Ledger.
func (l ledger) Insert(code otp.Code) error {
	if err := l.expireAt(code.KeepUntil(), expireCode, within(l.organization, []byte(code.ID))); err != nil {
		return err
	}
	return l.putCode(&code)
}

func (l ledger) putCode(code *otp.Code) error {
	value, err := json.Marshal(code)
	if err != nil {
		return err
	}
	return l.put(bucketCodes, within(l.organization, []byte(code.ID)), value)
}

// Try implements otp.Ledger.
func (l ledger) Try(id string, by otp.Fingerprint, most int, now time.Time) (otp.Code, otp.Try, error) {
	code, err := l.Code(id)
	if errors.Is(err, otp.ErrUnknown) {
		return otp.Code{}, otp.TryRefused, nil
	}
	if err != nil {
		return otp.Code{}, otp.TryRefused, err
	}
	try := code.Take(by, most, now)
	if try == otp.TryCounted {
		err = l.putCode(&code)
	}
	return code, try, err
}

// Move implements otp.Ledger.
func (l ledger) Move(id string, from, to otp.State) (bool, error) {
	code, err := l.Code(id)
	if errors.Is(err, otp.ErrUnknown) || err == nil && code.State != from {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	code.State = to
	return true, l.putCode(&code)
}

// What expires.
const (
	expireCode  = 'c'
	expireMeter = 'm'
)

// expireAt notes when something is to be swept: time 8 ‖ kind 1 ‖ key. A meter
// may be extended later; Sweep asks it again.
func (t *transaction) expireAt(at time.Time, kind byte, key []byte) error {
	return t.put(bucketExpiry, expiryKey(at, kind, key), nil)
}

func expiryKey(at time.Time, kind byte, key []byte) []byte {
	out := binary.BigEndian.AppendUint64(nil, uint64(max(0, at.UnixMilli())))
	return append(append(out, kind), key...)
}
