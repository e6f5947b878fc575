package otp

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
)

// reserve counts a message that is about to be sent and stores its code, pending.
type reserve struct {
	limits       Limits
	organization otpledger.MeterKey
	code         otpledger.Code
	now          time.Time
}

// apply refuses with a *LimitError.
func (r *reserve) apply(ledger otpledger.Ledger) (refusal, err error) {
	meters, organization, err := lockAll(ledger, &r.code, r.organization)
	if err != nil {
		return nil, err
	}
	if refusal := r.check(&meters, &organization); refusal != nil {
		return refusal, nil
	}
	by := r.code.User.Tag()
	r.limits.Sends.count(&meters.user, &meters.user.Sent, r.now, by)
	r.limits.Sends.count(&meters.to, &meters.to.Sent, r.now, by)
	r.limits.OrganizationSends.count(&organization, &organization.Sent, r.now, 0)
	return nil, errors.Join(
		meters.save(ledger),
		ledger.SetMeter(r.organization, organization),
		ledger.Insert(r.code))
}

func (r *reserve) check(meters *pair, organization *otpledger.Meter) error {
	l := &r.limits
	if err := meters.check(LimitSends, l.Sends, sent, r.now); err != nil {
		return err
	}
	if err := meters.check(LimitFailures, l.Failures, failed, r.now); err != nil {
		return err
	}
	wait := l.OrganizationSends.wait(organization.Sent, r.now, unlimitedShare)
	if err := limited(LimitOrganizationSends, l.OrganizationSends, wait); err != nil {
		return err
	}
	wait = l.OrganizationFailures.wait(organization.Failed, r.now, unlimitedShare)
	return limited(LimitOrganizationFailures, l.OrganizationFailures, wait)
}

// deliveryFailed takes a reservation back, counts a failed delivery instead and
// kills the code.
type deliveryFailed struct {
	limits       Limits
	organization otpledger.MeterKey
	code         otpledger.Code
	reservedAt   time.Time
	now          time.Time
}

// apply never refuses.
func (f *deliveryFailed) apply(ledger otpledger.Ledger) (refusal, err error) {
	meters, organization, err := lockAll(ledger, &f.code, f.organization)
	if err != nil {
		return nil, err
	}
	by := f.code.User.Tag()
	for _, meter := range []*otpledger.Meter{&meters.user, &meters.to} {
		meter.Sent = f.limits.Sends.remove(meter.Sent, f.reservedAt, by)
		f.limits.Failures.count(meter, &meter.Failed, f.now, by)
	}
	organization.Sent = f.limits.OrganizationSends.remove(organization.Sent, f.reservedAt, 0)
	f.limits.OrganizationFailures.count(&organization, &organization.Failed, f.now, 0)
	_, moveErr := ledger.Move(f.code.ID, otpledger.StatePending, otpledger.StateDead)
	return nil, errors.Join(meters.save(ledger), ledger.SetMeter(f.organization, organization), moveErr)
}

// activate makes a delivered code live, and kills the oldest live code if there
// are too many.
type activate struct {
	limits Limits
	code   otpledger.Code
	now    time.Time
}

// apply refuses with ErrUnknown if the code is no longer pending.
func (a *activate) apply(ledger otpledger.Ledger) (refusal, err error) {
	meters, err := lockPair(ledger, a.code.User, a.code.To)
	if err != nil {
		return nil, err
	}
	moved, err := ledger.Move(a.code.ID, otpledger.StatePending, otpledger.StateLive)
	if err != nil {
		return nil, err
	}
	if !moved {
		return &CodeError{Why: ErrUnknown}, nil
	}
	if meters.user.Live, err = a.enlist(ledger, meters.user.Live); err != nil {
		return nil, err
	}
	if meters.to.Live, err = a.enlist(ledger, meters.to.Live); err != nil {
		return nil, err
	}
	return nil, meters.save(ledger)
}

// enlist adds the code to a list of live codes. If the list is full, the oldest
// code of the same user dies, or the oldest of all.
func (a *activate) enlist(ledger otpledger.Ledger, live []otpledger.LiveCode) ([]otpledger.LiveCode, error) {
	by := a.code.User.Tag()
	live, err := a.stillLive(ledger, live)
	if err != nil {
		return nil, err
	}
	for len(live) >= a.limits.LiveCodes {
		victim := slices.IndexFunc(live, func(code otpledger.LiveCode) bool { return code.By == by })
		victim = max(0, victim)
		if _, err := ledger.Move(live[victim].ID, otpledger.StateLive, otpledger.StateDead); err != nil {
			return nil, err
		}
		live = slices.Delete(live, victim, victim+1)
	}
	return append(live, otpledger.LiveCode{ID: a.code.ID, By: by, ExpiresAt: a.code.ExpiresAt.UnixMilli()}), nil
}

// stillLive returns the listed codes that have neither expired nor been used, nor
// died through another list.
func (a *activate) stillLive(ledger otpledger.Ledger, listed []otpledger.LiveCode) ([]otpledger.LiveCode, error) {
	var live []otpledger.LiveCode
	for _, item := range listed {
		if item.ExpiresAt <= a.now.UnixMilli() {
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
