package otp

import (
	"errors"
	"fmt"
	"time"
)

// Errors for errors.Is. A caller from outside is told of the first four; the
// others say in a log which of the ways a code can be invalid it was.
var (
	// ErrInvalidCode: the code is wrong, dead, expired, used or unknown. Who
	// asks from outside is not told which.
	ErrInvalidCode = errors.New("otp: the one-time password is not valid: request a new one")

	// ErrLimit: a limit is used up; the error is a *LimitError.
	ErrLimit = errors.New("otp: limit used up")

	// ErrDelivery: the message could not be delivered. No code is alive.
	ErrDelivery = errors.New("otp: the message could not be delivered")

	// ErrParameter: a parameter breaks its rule; the error is a
	// *ParameterError. ErrEmail and ErrPhone are the same for a contact.
	ErrParameter = errors.New("otp: parameter not allowed")
	ErrEmail     = errors.New("otp: not an e-mail address")
	ErrPhone     = errors.New("otp: not a phone number")

	ErrWrong   = errors.New("otp: wrong code")
	ErrUnknown = errors.New("otp: no code of this id")
	ErrExpired = errors.New("otp: code expired")
	ErrDead    = errors.New("otp: code dead: tried too often, or too many newer ones")
	ErrUsed    = errors.New("otp: code used already")
)

// CodeError is a code that was refused. Its text is always that of
// ErrInvalidCode; what it wraps says why, and is for the log only.
type CodeError struct {
	Why error // ErrWrong, ErrUnknown, ErrExpired, ErrDead or ErrUsed
}

// Error returns the one text that all refused codes share.
func (*CodeError) Error() string { return ErrInvalidCode.Error() }

// Unwrap returns ErrInvalidCode and why.
func (e *CodeError) Unwrap() []error { return []error{ErrInvalidCode, e.Why} }

// LimitName names one of the [Limits].
type LimitName string

// The limits that an error can name.
const (
	LimitSends                LimitName = "sends per user or contact"
	LimitOrganizationSends    LimitName = "sends per organization"
	LimitFailures             LimitName = "failed deliveries per user or contact"
	LimitOrganizationFailures LimitName = "failed deliveries per organization"
	LimitHourlyTries          LimitName = "tries per hour"
	LimitDailyTries           LimitName = "tries per day"
)

// LimitError says which limit is used up, and when to come back.
type LimitError struct {
	Limit      LimitName
	Rate       Rate
	RetryAfter time.Duration // until one more is allowed; more than zero
}

// Error names the limit and when to come back, in seconds rounded up.
func (e *LimitError) Error() string {
	return fmt.Sprintf("otp: %s: at most %d in %v; come back in %d s", e.Limit, e.Rate.Count, e.Rate.Window, e.RetryAfterSeconds())
}

// RetryAfterSeconds is RetryAfter in whole seconds, rounded up.
func (e *LimitError) RetryAfterSeconds() int64 {
	return int64((e.RetryAfter + time.Second - 1) / time.Second)
}

// Unwrap returns ErrLimit.
func (*LimitError) Unwrap() error { return ErrLimit }

// ParameterError is a parameter of a request that breaks its rule.
type ParameterError struct {
	Parameter string // as the API names it, such as "emailCustomization.logoUrl"
	Rule      string // what it breaks, and what would be right
	Kind      error  // ErrParameter, ErrEmail or ErrPhone
}

// Error names the parameter and its rule.
func (e *ParameterError) Error() string { return e.Parameter + ": " + e.Rule }

// Unwrap returns the kind.
func (e *ParameterError) Unwrap() error { return e.Kind }

func badParameter(parameter, format string, args ...any) error {
	return &ParameterError{Parameter: parameter, Rule: fmt.Sprintf(format, args...), Kind: ErrParameter}
}
