package otp

import (
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
)

// Errors for errors.Is. ErrWrong, ErrUnknown, ErrExpired, ErrDead and ErrUsed say why
// a code is invalid: they are for logs and must not reach a client.
var (
	// ErrInvalidCode: the code is wrong, unknown, expired, dead or used.
	ErrInvalidCode = errors.New("otp: the one-time password is not valid: request a new one")

	// ErrLimit: a limit is exhausted; the error is a *LimitError.
	ErrLimit = errors.New("otp: limit exhausted")

	// ErrDelivery: the message could not be delivered. Its code is dead.
	ErrDelivery = errors.New("otp: the message could not be delivered")

	// ErrParameter: a parameter breaks its rule; the error is a
	// *ParameterError. For a contact it wraps ErrEmail or ErrPhone instead.
	ErrParameter = errors.New("otp: parameter not allowed")
	ErrEmail     = errors.New("otp: not an e-mail address")
	ErrPhone     = errors.New("otp: not a phone number")

	ErrWrong   = errors.New("otp: wrong code")
	ErrUnknown = otpledger.ErrUnknown
	ErrExpired = errors.New("otp: code expired")
	ErrDead    = errors.New("otp: code dead: tried too often, or replaced by newer ones")
	ErrUsed    = errors.New("otp: code already used")
)

// CodeError means that a code was refused. Its text is always that of
// ErrInvalidCode; Why is for logs only.
type CodeError struct {
	Why error // ErrWrong, ErrUnknown, ErrExpired, ErrDead or ErrUsed
}

// Error returns the text that all refused codes share.
func (*CodeError) Error() string     { return ErrInvalidCode.Error() }
func (e *CodeError) Unwrap() []error { return []error{ErrInvalidCode, e.Why} }

// LimitName names one of the [Limits].
type LimitName string

// The limits that a LimitError can name.
const (
	LimitSends                LimitName = "sends per user or contact"
	LimitOrganizationSends    LimitName = "sends per organization"
	LimitCredentialSends      LimitName = "sends per credential"
	LimitFailures             LimitName = "failed deliveries per user or contact"
	LimitOrganizationFailures LimitName = "failed deliveries per organization"
	LimitHourlyTries          LimitName = "tries per hour"
	LimitDailyTries           LimitName = "tries per day"
)

// LimitError says which limit is exhausted, and when to retry.
type LimitError struct {
	Limit      LimitName
	Rate       Rate
	RetryAfter time.Duration // until one more is allowed; positive
}

// Error names the limit and when to retry, in seconds rounded up.
func (e *LimitError) Error() string {
	return fmt.Sprintf("otp: %s: at most %d in %v; retry in %d s", e.Limit, e.Rate.Count, e.Rate.Window, e.RetryAfterSeconds())
}

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up.
func (e *LimitError) RetryAfterSeconds() int64 {
	return int64((e.RetryAfter + time.Second - 1) / time.Second)
}

func (*LimitError) Unwrap() error { return ErrLimit }

// ParameterError names a parameter of a request that breaks its rule.
type ParameterError struct {
	Parameter string // as the API names it, such as "emailCustomization.logoUrl"
	Rule      string // what is wrong and what is expected
	Kind      error  // ErrParameter, ErrEmail or ErrPhone
}

// Error names the parameter and its rule.
func (e *ParameterError) Error() string { return e.Parameter + ": " + e.Rule }
func (e *ParameterError) Unwrap() error { return e.Kind }

func badParameter(parameter, format string, args ...any) error {
	return &ParameterError{Parameter: parameter, Rule: fmt.Sprintf(format, args...), Kind: ErrParameter}
}
