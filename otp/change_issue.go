package otp

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
)

// reserve counts a message that is about to be sent and stores its code, pending.
type reserve struct {
	limits   Limits
	sends    SendLimits
	counters counters
	code     otpledger.Code
	now      time.Time
}

// apply refuses with a *LimitError.
func (r *reserve) apply(ledger otpledger.Ledger) (refusal, err error) {
	meters, err := lockAll(ledger, r.counters)
	if err != nil {
		return nil, err
	}
	if refusal := r.check(&meters); refusal != nil {
		return refusal, nil
	}
	by := r.code.User.Tag()
	r.sends.Contact.count(&meters.sends, &meters.sends.Sent, r.now, by)
	r.sends.Contact.count(&meters.to, &meters.to.Sent, r.now, by)
	r.sends.Organization.count(&meters.organization, &meters.organization.Sent, r.now, 0)
	if r.sends.Credential.Count > 0 {
		r.sends.Credential.count(&meters.credential, &meters.credential.Sent, r.now, 0)
	}
	return nil, errors.Join(meters.save(ledger, &r.sends), ledger.Insert(r.code))
}

func (r *reserve) check(meters *counted) error {
	if err := r.checkSends(meters); err != nil {
		return err
	}
	if err := meters.check(LimitFailures, r.limits.Failures, failed, r.now); err != nil {
		return err
	}
	wait := r.limits.OrganizationFailures.wait(meters.organization.Failed, r.now, unlimitedShare)
	return limited(LimitOrganizationFailures, r.limits.OrganizationFailures, wait)
}

func (r *reserve) checkSends(meters *counted) error {
	rate := r.sends.Contact
	wait := max(rate.wait(meters.sends.Sent, r.now, unlimitedShare), rate.wait(meters.to.Sent, r.now, rate.share()))
	if err := limited(LimitSends, rate, wait); err != nil {
		return err
	}
	wait = r.sends.Organization.wait(meters.organization.Sent, r.now, unlimitedShare)
	if err := limited(LimitOrganizationSends, r.sends.Organization, wait); err != nil || r.sends.Credential.Count == 0 {
		return err
	}
	wait = r.sends.Credential.wait(meters.credential.Sent, r.now, unlimitedShare)
	return limited(LimitCredentialSends, r.sends.Credential, wait)
}

// deliveryFailed takes a reservation back, counts a failed delivery instead and
// kills the code.
type deliveryFailed struct {
	limits     Limits
	sends      SendLimits
	counters   counters
	code       otpledger.Code
	reservedAt time.Time
	now        time.Time
}

// apply never refuses.
func (f *deliveryFailed) apply(ledger otpledger.Ledger) (refusal, err error) {
	meters, err := lockAll(ledger, f.counters)
	if err != nil {
		return nil, err
	}
	by := f.code.User.Tag()
	for _, meter := range []*otpledger.Meter{&meters.sends, &meters.to} {
		meter.Sent = f.sends.Contact.remove(meter.Sent, f.reservedAt, by)
	}
	for _, meter := range []*otpledger.Meter{&meters.user, &meters.to} {
		f.limits.Failures.count(meter, &meter.Failed, f.now, by)
	}
	organization := &meters.organization
	organization.Sent = f.sends.Organization.remove(organization.Sent, f.reservedAt, 0)
	f.limits.OrganizationFailures.count(organization, &organization.Failed, f.now, 0)
	if f.sends.Credential.Count > 0 {
		meters.credential.Sent = f.sends.Credential.remove(meters.credential.Sent, f.reservedAt, 0)
	}
	_, moveErr := ledger.Move(f.code.ID, otpledger.StatePending, otpledger.StateDead)
	return nil, errors.Join(meters.save(ledger, &f.sends), moveErr)
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
