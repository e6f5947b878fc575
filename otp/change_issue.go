package otp

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
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
