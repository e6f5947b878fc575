package otp

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
)

// delivery is the sending of a message at a time.
type delivery struct {
	limits Limits
	sends  SendLimits
	keys   []otpledger.MeterKey
	code   otpledger.Code
	now    time.Time
}

// reserve counts the message, which is about to be sent, and stores its code, pending. It refuses
// with a *LimitError.
func (d *delivery) reserve(ledger otpledger.Ledger) (refusal, err error) {
	meters, err := lock(ledger, d.keys...)
	if err != nil {
		return nil, err
	}
	sends := meters.sends(&d.sends)
	if refusal := check(append(sends, meters.failures(&d.limits)...), d.now); refusal != nil {
		return refusal, nil
	}
	count(sends, d.now)
	return nil, errors.Join(meters.save(ledger), ledger.Insert(d.code))
}

// failed takes the reservation back, counts a failed delivery instead and kills the code. It
// never refuses.
func (d *delivery) failed(ledger otpledger.Ledger) (refusal, err error) {
	meters, err := lock(ledger, d.keys...)
	if err != nil {
		return nil, err
	}
	for _, t := range meters.sends(&d.sends) {
		*t.events = t.rate.remove(*t.events, d.code.CreatedAt, t.by)
	}
	count(meters.failures(&d.limits), d.now)
	_, moveErr := ledger.Move(d.code.ID, otpledger.StatePending, otpledger.StateDead)
	return nil, errors.Join(meters.save(ledger), moveErr)
}

// activate makes a delivered code live, and kills the oldest live code if there are too many. It
// refuses with ErrUnknown if the code is no longer pending.
func (d *delivery) activate(ledger otpledger.Ledger) (refusal, err error) {
	meters, err := lock(ledger, d.code.User, d.code.To)
	if err != nil {
		return nil, err
	}
	moved, err := ledger.Move(d.code.ID, otpledger.StatePending, otpledger.StateLive)
	if err != nil {
		return nil, err
	}
	if !moved {
		return &CodeError{Why: ErrUnknown}, nil
	}
	for i := range meters.list {
		meter := &meters.list[i]
		if meter.Live, err = d.enlist(ledger, meter.Live); err != nil {
			return nil, err
		}
	}
	return nil, meters.save(ledger)
}

// enlist adds the code to a list of live codes. If the list is full, the oldest
// code of the same user dies, or the oldest of all.
func (d *delivery) enlist(ledger otpledger.Ledger, live []otpledger.LiveCode) ([]otpledger.LiveCode, error) {
	by := d.code.User.Tag()
	live, err := d.stillLive(ledger, live)
	if err != nil {
		return nil, err
	}
	for len(live) >= d.limits.LiveCodes {
		victim := max(0, slices.IndexFunc(live, func(code otpledger.LiveCode) bool { return code.By == by }))
		if _, err := ledger.Move(live[victim].ID, otpledger.StateLive, otpledger.StateDead); err != nil {
			return nil, err
		}
		live = slices.Delete(live, victim, victim+1)
	}
	return append(live, otpledger.LiveCode{ID: d.code.ID, By: by, ExpiresAt: d.code.ExpiresAt.UnixMilli()}), nil
}

// stillLive returns the listed codes that have neither expired nor been used, nor
// died through another list.
func (d *delivery) stillLive(ledger otpledger.Ledger, listed []otpledger.LiveCode) ([]otpledger.LiveCode, error) {
	var live []otpledger.LiveCode
	for _, item := range listed {
		if item.ExpiresAt <= d.now.UnixMilli() {
			continue
		}
		code, err := ledger.Code(item.ID)
		switch {
		case err == nil && code.State == otpledger.StateLive:
			live = append(live, item)
		case err != nil && !errors.Is(err, ErrUnknown):
			return nil, err
		}
	}
	return live, nil
}

// attempt tries a code: it counts the try, then compares.
//
// Whether the code is unknown, dead, wrong or right, attempt accesses the ledger in
// the same order and compares one hash, so that its timing reveals nothing.
type attempt struct {
	limits  Limits
	id      string
	decoys  [2]otpledger.MeterKey // the meters that stand in for those of an unknown code
	hash    [sha256.Size]byte
	by      store.Fingerprint
	now     time.Time
	matched *otpledger.Code // the result: the code, if it was right
}

// apply refuses with a *CodeError or a *LimitError.
func (a *attempt) apply(ledger otpledger.Ledger) (refusal, err error) {
	a.matched = nil
	issued, err := ledger.Code(a.id)
	if errors.Is(err, ErrUnknown) {
		issued, err = otpledger.Code{User: a.decoys[0], To: a.decoys[1]}, nil
	}
	if err != nil {
		return nil, err
	}
	meters, err := lock(ledger, issued.User, issued.To)
	if err != nil {
		return nil, err
	}
	tallies := append(meters.shared(LimitHourlyTries, a.limits.HourlyTries, ofUser, tried),
		meters.shared(LimitDailyTries, a.limits.DailyTries, ofUser, tried)...)
	if refusal := check(tallies, a.now); refusal != nil {
		return refusal, nil
	}
	code, try, err := ledger.Try(a.id, a.by, a.limits.TriesPerCode, a.now)
	if err != nil {
		return nil, err
	}
	equal := hmac.Equal(code.Hash[:], a.hash[:])
	refusal = a.judge(&code, try, equal)
	if err := a.count(ledger, &meters, &code, refusal != nil && try == otpledger.TryCounted); err != nil {
		return nil, err
	}
	if refusal == nil {
		a.matched = &code
	}
	return refusal, nil
}

// judge returns why the code is refused, or nil.
func (a *attempt) judge(code *otpledger.Code, try otpledger.Try, equal bool) error {
	switch {
	case try != otpledger.TryRefused && equal:
		return nil
	case try != otpledger.TryRefused:
		return &CodeError{Why: ErrWrong}
	case code.State == otpledger.StateUsed:
		return &CodeError{Why: ErrUsed}
	case code.State == otpledger.StateLive && !a.now.Before(code.ExpiresAt):
		return &CodeError{Why: ErrExpired}
	case code.State == otpledger.StateLive || code.State == otpledger.StateDead:
		return &CodeError{Why: ErrDead}
	}
	return &CodeError{Why: ErrUnknown}
}

// count writes the meters: with one more wrong try, or unchanged.
func (a *attempt) count(ledger otpledger.Ledger, meters *meters, code *otpledger.Code, wrong bool) error {
	if wrong {
		longer := a.limits.DailyTries // tries that are kept for the longer window are kept for the other one too
		if a.limits.HourlyTries.Window > longer.Window {
			longer = a.limits.HourlyTries
		}
		count(meters.shared(LimitDailyTries, longer, ofUser, tried), a.now)
		if len(code.Tried) >= a.limits.TriesPerCode {
			if _, err := ledger.Move(code.ID, otpledger.StateLive, otpledger.StateDead); err != nil {
				return err
			}
		}
	}
	return meters.save(ledger)
}
