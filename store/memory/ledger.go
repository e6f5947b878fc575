package memory

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/otp"
)

// ledger is an otp.Ledger over the maps. It notes how to undo what it did.
type ledger struct {
	store        *Store
	organization string
	undo         []func()
}

var _ otp.Ledger = (*ledger)(nil)

// apply makes a change. With an error nothing is written.
func (s *Store) apply(organizationID string, change otp.Change) (refusal, err error) {
	l := &ledger{store: s, organization: organizationID}
	refusal, err = change.Apply(l)
	if err != nil {
		l.rollback()
	}
	return refusal, err
}

// applyWhole makes a change to which a refusal is an error like any other.
func (s *Store) applyWhole(organizationID string, change otp.Change) error {
	l := &ledger{store: s, organization: organizationID}
	refusal, err := change.Apply(l)
	if err == nil {
		err = refusal
	}
	if err != nil {
		l.rollback()
	}
	return err
}

func (l *ledger) rollback() {
	for _, undo := range slices.Backward(l.undo) {
		undo()
	}
}

// Meters implements otp.Ledger.
func (l *ledger) Meters(keys ...otp.MeterKey) ([]otp.Meter, error) {
	meters := make([]otp.Meter, len(keys))
	for i, key := range keys {
		if meter := l.store.meters[meterKey{l.organization, key}]; meter != nil {
			meters[i] = *meter
			// Changes append to the slices: not into ours.
			for _, list := range []*[]otp.Event{&meters[i].Sent, &meters[i].Failed, &meters[i].Tried} {
				*list = slices.Clone(*list)
			}
			meters[i].Live = slices.Clone(meter.Live)
		}
	}
	return meters, nil
}

// SetMeter implements otp.Ledger. Growth is bounded by the limits, so that only
// a meter that is new asks for room.
func (l *ledger) SetMeter(key otp.MeterKey, meter otp.Meter) error {
	at := meterKey{l.organization, key}
	before := l.store.meters[at]
	if before == nil {
		if err := l.store.room(meterCost); err != nil {
			return err
		}
		l.store.expiry.add(expiring{at: meter.KeepUntil(), kind: kindMeter, organization: l.organization, key: key})
	}
	l.putMeter(at, &meter)
	l.undo = append(l.undo, func() { l.putMeter(at, before) })
	return nil
}

func (l *ledger) putMeter(at meterKey, meter *otp.Meter) {
	l.store.used -= meterSize(l.store.meters[at])
	l.store.used += meterSize(meter)
	if meter == nil {
		delete(l.store.meters, at)
	} else {
		l.store.meters[at] = meter
	}
}

func meterSize(meter *otp.Meter) int {
	if meter == nil {
		return 0
	}
	return meterCost + eventCost*(len(meter.Sent)+len(meter.Failed)+len(meter.Tried)+2*len(meter.Live))
}

// Code implements otp.Ledger.
func (l *ledger) Code(id string) (otp.Code, error) {
	code := l.store.codes[idKey{l.organization, id}]
	if code == nil {
		return otp.Code{}, otp.ErrUnknown
	}
	return *code, nil
}

// Insert implements otp.Ledger. An insert is also the time to forget what has
// expired before it.
func (l *ledger) Insert(code otp.Code) error {
	l.store.sweepSome(code.CreatedAt)
	if err := l.store.room(codeCost); err != nil {
		return err
	}
	at := idKey{l.organization, code.ID}
	l.store.codes[at] = &code
	l.store.used += codeCost
	l.store.expiry.add(expiring{at: code.KeepUntil(), kind: kindCode, organization: l.organization, id: code.ID})
	l.undo = append(l.undo, func() {
		delete(l.store.codes, at)
		l.store.used -= codeCost
	})
	return nil
}

// Try implements otp.Ledger.
func (l *ledger) Try(id string, by otp.Fingerprint, most int, now time.Time) (otp.Code, otp.Try, error) {
	code := l.store.codes[idKey{l.organization, id}]
	if code == nil {
		return otp.Code{}, otp.TryRefused, nil
	}
	before := code.Tried
	try := code.Take(by, most, now)
	l.undo = append(l.undo, func() { code.Tried = before })
	return *code, try, nil
}

// Move implements otp.Ledger.
func (l *ledger) Move(id string, from, to otp.State) (bool, error) {
	code := l.store.codes[idKey{l.organization, id}]
	if code == nil || code.State != from {
		return false, nil
	}
	code.State = to
	l.undo = append(l.undo, func() { code.State = from })
	return true, nil
}
