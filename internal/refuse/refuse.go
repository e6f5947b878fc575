// Package refuse translates the errors of chains, keystores, stores, directories and policies
// for callers: into an *activity.Error that reveals no files, devices or hosts.
package refuse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
)

// Transaction translates an error of a chain or a key.
func Transaction(err error) error {
	if refused, ok := errors.AsType[*activity.Error](intents.Refuse(err)); ok {
		return refused
	}
	return Key(err)
}

// Key translates an error of the keystore, without its text, which may name files,
// devices and slots.
func Key(err error) error {
	var throttled *keystore.ThrottledError
	switch {
	case errors.As(err, &throttled):
		refused := activity.NewError(activity.ReasonUnavailable, "", err,
			"the key's backend accepts no more requests at the moment: send the same body again")
		refused.RetryAfter = throttled.RetryAfter
		return refused
	case errors.Is(err, keystore.ErrDenied):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the key's backend refuses the use of the key: its operator has to change the credentials or the rights")
	case errors.Is(err, context.Canceled):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the request ended before the key signed: %v",
			context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the request ended before the key signed: %v",
			context.DeadlineExceeded)
	case errors.Is(err, keystore.ErrClosed):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the keystore is closed: the engine is shutting down")
	case errors.Is(err, keystore.ErrWithdrawn):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the key was removed or changed while the request was carried out: send the request again")
	case errors.Is(err, keystore.ErrUnavailable):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the keystore cannot be reached at the moment")
	case errors.Is(err, keystore.ErrSignatureCheck):
		return activity.NewError(activity.ReasonInternal, "", err,
			"the key's backend returned a signature that does not verify; it was not released")
	}
	return activity.NewError(activity.ReasonInternal, "", err, "the key could not be used")
}

// ErrNoKey is the error of a keystore that breaks its contract.
var ErrNoKey = errors.New("keystore: Find returned neither a key nor an error")

// Directory translates an error of the directory.
func Directory(err error) error {
	return activity.NewError(activity.ReasonUnavailable, "", err,
		"the directory of organizations cannot be read: try again")
}

// Store translates an error of the store, without its text, which may name files
// and hosts. The refusal of an operation's change is returned as it is.
func Store(err error) error {
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return refused
	}
	var limit *store.LimitError
	var superseded *store.SupersededError
	var crowded *store.CrowdedError
	var stopped *store.StoppedError
	switch {
	case errors.As(err, &superseded):
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", err,
			"the store has lost what was answered to requests up to %s, and this one may be among them: find out "+
				"whether it was carried out, and if not make it again after that time",
			superseded.Until.UTC().Format(time.RFC3339))
	case errors.As(err, &stopped):
		return activity.NewError(activity.ReasonHalted, "", err,
			"signing is halted for %s since %s: send the same body again when it was resumed",
			cmp.Or(stopped.Stop.Subject, "the organization"), stopped.Stop.Since.UTC().Format(time.RFC3339))
	case errors.Is(err, store.ErrConflict):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"this organization takes no requests: its store lacks what was answered before, and an operator has to look at it")
	case errors.As(err, &limit):
		refused := activity.NewError(activity.ReasonLimitExceeded, "", err, "%v", limit)
		refused.RetryAfter = limit.RetryAfter
		return refused
	case errors.As(err, &crowded):
		return activity.NewError(activity.ReasonRateLimitExceeded, "", err, "%s", tooManyWait(crowded))
	case errors.Is(err, store.ErrUncharged):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the request took longer than the window of its limit: send the same body again")
	case errors.Is(err, store.ErrFull):
		return activity.NewError(activity.ReasonRateLimitExceeded, "", err,
			"the store of activities is full: try again later")
	case errors.Is(err, store.ErrStale):
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", err,
			"the request expired before it was carried out: make it again")
	case errors.Is(err, store.ErrLeaseLost):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"another node has taken over this request: send the same body again for its answer")
	case errors.Is(err, store.ErrMoved):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"this organization moves to another store, or has moved: send the same body again later")
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrInUse):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the store of activities is unavailable: send the same body again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the request ended before it was recorded: send the same body again")
	}
	return activity.NewError(activity.ReasonInternal, "", err, "the store of activities could not be used")
}

// tooManyWait says why no further activity may wait.
func tooManyWait(crowded *store.CrowdedError) string {
	of := ""
	if crowded.OfUser {
		of = " of this user"
	}
	return fmt.Sprintf("%d activities%s wait for approvals, and no more may: have some approved or rejected",
		crowded.Waiting, of)
}

// Policy translates an error of a policy.
func Policy(err error) error {
	exceeded, limited := errors.AsType[*store.LimitError](err)
	switch {
	case err == nil:
		return nil
	case limited && errors.Is(err, access.ErrDenied):
		refused := activity.NewError(activity.ReasonLimitExceeded, "", err, "not authorized: %v", err)
		refused.RetryAfter = exceeded.RetryAfter
		return refused
	case errors.Is(err, access.ErrDenied):
		return activity.NewError(activity.ReasonNotAuthorized, "", err, "not authorized: %v", err)
	}
	return activity.NewError(activity.ReasonUnavailable, "", err, "the policy could not decide: try again")
}

// maxQuoted is how many bytes of a caller's text an error or a log line quotes.
const maxQuoted = 100

// Shorten truncates a caller's text for an error or a log line.
func Shorten(text string) string { return plaintext.Shorten(text, maxQuoted) }
