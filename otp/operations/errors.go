package operations

import (
	"errors"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// refuse translates an error of the service into an *activity.Error, which does not
// reveal why a code is invalid.
func refuse(err error) error {
	if refused := refusal(err); refused != nil {
		return refused
	}
	return activity.NewError(activity.ReasonUnavailable, "", err, "the store of one-time passwords is unavailable: try again")
}

// refusal translates an error of the service that is not one of its store. It returns
// nil for any other.
func refusal(err error) error {
	var parameter *otp.ParameterError
	var limit *otp.LimitError
	var code *otp.CodeError
	switch {
	case errors.As(err, &parameter):
		return activity.NewError(parameterReason(parameter), parameter.Parameter, err, "%v", parameter)
	case errors.As(err, &limit):
		reason := activity.ReasonRateLimitExceeded
		if limit.Limit == otp.LimitSends {
			reason = activity.ReasonMaxOTPInitiated
		}
		refused := activity.NewError(reason, "", limit, "%v", limit)
		refused.RetryAfter = limit.RetryAfter
		return refused
	case errors.As(err, &code):
		return activity.NewError(activity.ReasonOTPInvalid, "", withheld{code}, "%v", otp.ErrInvalidCode)
	case errors.Is(err, otp.ErrDelivery):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the message could not be delivered: send the same body again")
	}
	return nil
}

// withheld is the cause of the refusal of a code. Its text, which is for the log, says
// why; the client's does not.
type withheld struct{ code *otp.CodeError }

func (w withheld) Error() string { return w.code.Why.Error() }

func (w withheld) Unwrap() error { return w.code }

// refusing is a change whose refusals are translated.
func refusing(change store.Change) store.Change {
	if change == nil {
		return nil
	}
	return store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		refused, err := change.Apply(ledger)
		if translated := refusal(refused); translated != nil {
			refused = translated
		}
		return refused, err
	})
}

func parameterReason(err *otp.ParameterError) activity.Reason {
	switch {
	case errors.Is(err, otp.ErrEmail):
		return activity.ReasonInvalidEmail
	case errors.Is(err, otp.ErrPhone):
		return activity.ReasonInvalidPhone
	}
	return activity.ReasonRequestInvalid
}
