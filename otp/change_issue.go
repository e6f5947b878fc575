package otp

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// tag is what the events of a user carry in the meter of a contact.
func (k MeterKey) tag() uint64 { return binary.BigEndian.Uint64(k[:8]) }

// reserve counts a message that is about to be sent and stores its code,
// pending.
type reserve struct {
	limits       Limits
	organization MeterKey
	code         Code
	now          time.Time
}

// Apply implements Change. It refuses with a *LimitError.
func (r *reserve) Apply(ledger Ledger) (refusal, err error) {
	keys, more, err := lockPair(ledger, r.code.User, r.code.To, r.organization)
	if err != nil {
		return nil, err
	}
	all := more[0]
	if refusal := r.check(&keys, &all); refusal != nil {
		return refusal, nil
	}
	by := r.code.User.tag()
	keys.user.count(&keys.user.Sent, r.limits.Sends, r.now, by)
	keys.to.count(&keys.to.Sent, r.limits.Sends, r.now, by)
	all.count(&all.Sent, r.limits.OrganizationSends, r.now, 0)
	return nil, errors.Join(
		keys.save(ledger),
		ledger.SetMeter(r.organization, all),
		ledger.Insert(r.code))
}

func (r *reserve) check(keys *pair, all *Meter) error {
	l := &r.limits
	if err := keys.check(LimitSends, l.Sends, sent, r.now); err != nil {
		return err
	}
	if err := keys.check(LimitFailures, l.Failures, failed, r.now); err != nil {
		return err
	}
	if err := limited(LimitOrganizationSends, l.OrganizationSends, l.OrganizationSends.wait(all.Sent, r.now, unlimitedShare)); err != nil {
		return err
	}
	return limited(LimitOrganizationFailures, l.OrganizationFailures, l.OrganizationFailures.wait(all.Failed, r.now, unlimitedShare))
}

// deliveryFailed takes the reservation back, counts a failed delivery instead
// and kills the code.
type deliveryFailed struct {
	limits       Limits
	organization MeterKey
	code         Code
	reservedAt   time.Time
	now          time.Time
}

// Apply implements Change.
func (f *deliveryFailed) Apply(ledger Ledger) (refusal, err error) {
	keys, more, err := lockPair(ledger, f.code.User, f.code.To, f.organization)
	if err != nil {
		return nil, err
	}
	all := more[0]
	by := f.code.User.tag()
	for _, meter := range []*Meter{&keys.user, &keys.to} {
		meter.Sent = f.limits.Sends.remove(meter.Sent, f.reservedAt, by)
		meter.count(&meter.Failed, f.limits.Failures, f.now, by)
	}
	all.Sent = f.limits.OrganizationSends.remove(all.Sent, f.reservedAt, 0)
	all.count(&all.Failed, f.limits.OrganizationFailures, f.now, 0)
	_, moveErr := ledger.Move(f.code.ID, StatePending, StateDead)
	return nil, errors.Join(keys.save(ledger), ledger.SetMeter(f.organization, all), moveErr)
}

// activate makes a delivered code live, and kills the oldest if there are too
// many.
type activate struct {
	limits Limits
	code   Code
	now    time.Time
}

// Apply implements Change. It refuses with ErrUnknown if the code is not
// pending any more.
func (a *activate) Apply(ledger Ledger) (refusal, err error) {
	keys, _, err := lockPair(ledger, a.code.User, a.code.To)
	if err != nil {
		return nil, err
	}
	moved, err := ledger.Move(a.code.ID, StatePending, StateLive)
	if err != nil {
		return nil, err
	}
	if !moved {
		return &CodeError{Why: ErrUnknown}, nil
	}
	if keys.user.Live, err = a.enlist(ledger, keys.user.Live); err != nil {
		return nil, err
	}
	if keys.to.Live, err = a.enlist(ledger, keys.to.Live); err != nil {
		return nil, err
	}
	return nil, keys.save(ledger)
}

// enlist adds the code to a list of live ones.
func (a *activate) enlist(ledger Ledger, live []LiveCode) ([]LiveCode, error) {
	by := a.code.User.tag()
	live, err := a.stillLive(ledger, live)
	if err != nil {
		return nil, err
	}
	for len(live) >= a.limits.LiveCodes {
		victim := slices.IndexFunc(live, func(code LiveCode) bool { return code.By == by })
		victim = max(0, victim)
		if _, err := ledger.Move(live[victim].ID, StateLive, StateDead); err != nil {
			return nil, err
		}
		live = slices.Delete(live, victim, victim+1)
	}
	return append(live, LiveCode{ID: a.code.ID, By: by, ExpiresAt: a.code.ExpiresAt.UnixMilli()}), nil
}

// stillLive leaves out what has expired, was used or died by another list.
func (a *activate) stillLive(ledger Ledger, live []LiveCode) ([]LiveCode, error) {
	var kept []LiveCode
	for _, listed := range live {
		if listed.ExpiresAt <= a.now.UnixMilli() {
			continue
		}
		code, err := ledger.Code(listed.ID)
		switch {
		case err == nil && code.State == StateLive:
			kept = append(kept, listed)
		case err != nil && !errors.Is(err, ErrUnknown):
			return nil, err
		}
	}
	return kept, nil
}
