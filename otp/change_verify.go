package otp

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"time"
)

// attempt tries a code: it counts, then it compares.
//
// Whatever the code is, known or not, live or not, right or wrong, it asks the
// ledger for the same things in the same order and compares one hash, so that
// the time it takes tells nothing.
type attempt struct {
	limits  Limits
	id      string
	nobody  [2]MeterKey // stand in for the meters of a code that is unknown
	hash    [sha256.Size]byte
	by      Fingerprint
	now     time.Time
	matched *Code // the answer: the code, if it was right
}

// Apply implements Change. It refuses with a *CodeError or a *LimitError.
func (a *attempt) Apply(ledger Ledger) (refusal, err error) {
	a.matched = nil
	known, err := ledger.Code(a.id)
	if errors.Is(err, ErrUnknown) {
		known, err = Code{User: a.nobody[0], To: a.nobody[1]}, nil
	}
	if err != nil {
		return nil, err
	}
	keys, _, err := lockPair(ledger, known.User, known.To)
	if err != nil {
		return nil, err
	}
	if refusal := a.checkLimits(&keys); refusal != nil {
		return refusal, nil
	}
	code, try, err := ledger.Try(a.id, a.by, a.limits.TriesPerCode, a.now)
	if err != nil {
		return nil, err
	}
	equal := hmac.Equal(code.Hash[:], a.hash[:])
	refusal = a.judge(&code, try, equal)
	if err := a.count(ledger, &keys, &code, refusal != nil && try == TryCounted); err != nil {
		return nil, err
	}
	if refusal == nil {
		a.matched = &code
	}
	return refusal, nil
}

func (a *attempt) checkLimits(keys *pair) error {
	if err := keys.check(LimitHourlyTries, a.limits.HourlyTries, tried, a.now); err != nil {
		return err
	}
	return keys.check(LimitDailyTries, a.limits.DailyTries, tried, a.now)
}

// judge says why a code is refused, or nil.
func (a *attempt) judge(code *Code, try Try, equal bool) error {
	switch {
	case try != TryRefused && equal:
		return nil
	case try != TryRefused:
		return &CodeError{Why: ErrWrong}
	case code.State == StateUsed:
		return &CodeError{Why: ErrUsed}
	case code.State == StateLive && !a.now.Before(code.ExpiresAt):
		return &CodeError{Why: ErrExpired}
	case code.State == StateLive || code.State == StateDead:
		return &CodeError{Why: ErrDead}
	}
	return &CodeError{Why: ErrUnknown}
}

// count writes the meters, with one wrong try more or as they were.
func (a *attempt) count(ledger Ledger, keys *pair, code *Code, wrong bool) error {
	if wrong {
		by := code.User.tag()
		keys.user.count(&keys.user.Tried, a.keepTries(), a.now, by)
		keys.to.count(&keys.to.Tried, a.keepTries(), a.now, by)
		if len(code.Tried) >= a.limits.TriesPerCode {
			if _, err := ledger.Move(code.ID, StateLive, StateDead); err != nil {
				return err
			}
		}
	}
	return keys.save(ledger)
}

// keepTries is the rate with the longer window, so that neither misses a try.
func (a *attempt) keepTries() Rate {
	if a.limits.HourlyTries.Window > a.limits.DailyTries.Window {
		return a.limits.HourlyTries
	}
	return a.limits.DailyTries
}

// consume uses up a code that an attempt has found right.
type consume struct {
	id string
}

// Apply implements Change. It refuses with a *CodeError if another request was
// faster.
func (c *consume) Apply(ledger Ledger) (refusal, err error) {
	moved, err := ledger.Move(c.id, StateLive, StateUsed)
	if err != nil {
		return nil, err
	}
	if !moved {
		return &CodeError{Why: ErrUsed}, nil
	}
	return nil, nil
}
