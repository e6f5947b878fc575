package otp

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
)

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
