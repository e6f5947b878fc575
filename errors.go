// The errors of chains, keystores, stores and services, as callers get them: an
// *activity.Error each, with nothing in it that tells of files, devices or hosts.

package countersign

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// refuseTransaction turns an error of a chain or a key into the caller's.
func refuseTransaction(err error) error {
	var parse *chains.ParseError
	var signer *chains.SignerError
	switch {
	case errors.As(err, &parse) && errors.Is(parse, chains.ErrUnsupported):
		return activity.NewError(activity.ReasonUnsupportedTransactionType, fieldTransaction, err, "%v", err)
	case errors.As(err, &parse):
		return activity.NewError(activity.ReasonInvalidTransaction, fieldTransaction, err, "%v", err)
	case errors.As(err, &signer) && errors.Is(signer, chains.ErrNotSigner):
		return activity.NewError(activity.ReasonNotFound, fieldSignWith, err, "%v", err)
	case errors.As(err, &signer):
		return activity.NewError(activity.ReasonRequestInvalid, fieldSignWith, err, "%v", err)
	case errors.Is(err, keystore.ErrUnsupported):
		return activity.NewError(activity.ReasonRequestInvalid, fieldSignWith, err, "%v", err)
	}
	return refuseKey(err)
}

// refuseKey turns an error of the keystore into the caller's, without its
// text: it may tell of files, devices and slots.
func refuseKey(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the request ended before the key had signed: %v", err)
	case errors.Is(err, keystore.ErrClosed):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the keystore is closed: the engine is shutting down")
	case errors.Is(err, keystore.ErrWithdrawn):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the key was taken out of use, or changed, while the request was carried out: send the request again")
	case errors.Is(err, keystore.ErrUnavailable):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the keystore cannot be reached now")
	case errors.Is(err, keystore.ErrSignatureCheck):
		return activity.NewError(activity.ReasonInternal, "", err, "the key's backend made a signature that does not verify; it was not released")
	}
	return activity.NewError(activity.ReasonInternal, "", err, "the key could not be used")
}

func refuseStamp(cause error) error {
	return activity.NewError(activity.ReasonSignatureInvalid, "", cause,
		"the stamp does not verify: it is malformed, or not made over this body by a valid key of the organization")
}

func refuseDirectory(err error) error {
	return activity.NewError(activity.ReasonUnavailable, "", err, "the directory of organizations cannot be read: try again")
}

func refuseMessage(err error) error {
	return activity.NewError(activity.ReasonInvalidTransaction, fieldPayload, err, "%v", err)
}

// refuseOTP turns an error of the service into the caller's; nothing of it
// tells one way in which a code can be invalid from another.
func refuseOTP(err error) error {
	if refused := otpRefusal(err); refused != nil {
		return refused
	}
	return refuseStore(err)
}

// otpRefusal is refuseOTP for errors that are the service's own; otherwise nil.
func otpRefusal(err error) error {
	var parameter *otp.ParameterError
	var limit *otp.LimitError
	switch {
	case errors.As(err, &parameter):
		return activity.NewError(parameterReason(parameter), parameter.Parameter, err, "%v", parameter)
	case errors.As(err, &limit):
		return refuseLimit(limit)
	case errors.Is(err, otp.ErrInvalidCode):
		return activity.NewError(activity.ReasonOTPInvalid, "", err, "%v", otp.ErrInvalidCode)
	case errors.Is(err, otp.ErrDelivery):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the message could not be delivered: send the same body again")
	}
	return nil
}

func refuseLimit(limit *otp.LimitError) error {
	reason := activity.ReasonRateLimitExceeded
	if limit.Limit == otp.LimitSends {
		reason = activity.ReasonMaxOTPInitiated
	}
	refused := activity.NewError(reason, "", limit, "%v", limit)
	refused.RetryAfter = limit.RetryAfter
	return refused
}

// refuseStore turns an error of the store into the caller's, without its text:
// it may tell of files and hosts.
func refuseStore(err error) error {
	if refused := otpRefusal(err); refused != nil {
		return refused
	}
	var limit *store.LimitError
	switch {
	case errors.As(err, &limit):
		refused := activity.NewError(activity.ReasonLimitExceeded, "", err, "%v", limit)
		refused.RetryAfter = limit.RetryAfter
		return refused
	case errors.Is(err, store.ErrUncharged):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the request took longer than the window of its limit: send the same body again")
	case errors.Is(err, store.ErrFull):
		return activity.NewError(activity.ReasonRateLimitExceeded, "", err, "the store of activities is full: try again later")
	case errors.Is(err, store.ErrStale):
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", err, "the request was not live any more when it was to be carried out: make it again")
	case errors.Is(err, store.ErrLeaseLost):
		return activity.NewError(activity.ReasonUnavailable, "", err, "another node has taken this request over: send the same body again for its answer")
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrInUse):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the store of activities is unavailable: send the same body again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the request ended before it was recorded: send the same body again")
	}
	return activity.NewError(activity.ReasonInternal, "", err, "the activity could not be recorded")
}

// refuseStored translates an error that may be the caller's already.
func refuseStored(err error) error {
	if _, ok := errors.AsType[*activity.Error](err); ok {
		return err
	}
	return refuseStore(err)
}

// refusePolicy translates an error of a policy into the caller's.
func (e *Engine) refusePolicy(err error) error {
	var exceeded *LimitExceeded
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exceeded):
		refused := activity.NewError(activity.ReasonLimitExceeded, "", err, "not authorized: %v", err)
		if !exceeded.Frees.IsZero() {
			refused.RetryAfter = max(0, exceeded.Frees.Sub(e.config.Now()))
		}
		return refused
	case errors.Is(err, ErrDenied):
		return activity.NewError(activity.ReasonNotAuthorized, "", err, "not authorized: %v", err)
	}
	return activity.NewError(activity.ReasonUnavailable, "", err, "the policy could not decide: try again")
}

// maxQuoted is how many bytes of a caller's text an error repeats.
const maxQuoted = 100

// shorten cuts a caller's text for an error: a request may be megabytes long,
// and its error need not be.
func shorten(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return text[:maxQuoted] + "…"
}
