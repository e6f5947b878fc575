package countersign

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/stamp"
)

// Policy decides who may do what. It is asked after the stamp was verified and
// the transaction was read, and before anything is done or a recorded answer is
// given again. It is safe for concurrent use.
type Policy interface {
	// Authorize returns nil to allow, an error that wraps ErrDenied to refuse
	// (its text is told to the caller), and any other error if it could not
	// decide: then nothing is done either, and the caller may try again.
	Authorize(ctx context.Context, asked Authorization) error
}

// ErrDenied is what a Policy refuses with.
var ErrDenied = errors.New("denied by policy")

// Authorization is what a Policy is asked.
type Authorization struct {
	Organization *Organization
	User         User
	Credential   *stamp.Credential
	Intent       activity.Intent
	Summary      *chains.Summary // of the transaction, from its bytes alone; nil if there is none
	Hazards      []chains.Hazard // of the transaction; they are allowed
}

// PolicyFunc is a function that is a Policy.
type PolicyFunc func(ctx context.Context, asked Authorization) error

// Authorize implements Policy.
func (f PolicyFunc) Authorize(ctx context.Context, asked Authorization) error { return f(ctx, asked) }

// authorize asks the policy, if there is one.
func (e *Engine) authorize(ctx context.Context, by *caller, intent activity.Intent, task work) error {
	if e.submitted.Policy == nil {
		return nil
	}
	err := e.submitted.Policy.Authorize(ctx, Authorization{
		Organization: by.organization,
		User:         by.member.User,
		Credential:   by.member.Credential,
		Intent:       withoutCode(intent),
		Summary:      task.summary(),
		Hazards:      task.hazards(),
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDenied):
		return activity.NewError(activity.ReasonNotAuthorized, "", err, "not authorized: %v", err)
	}
	return activity.NewError(activity.ReasonUnavailable, "", err, "the policy could not decide: try again")
}

// withoutCode hides a one-time password that may still be good from a policy,
// which may write down what it is asked.
func withoutCode(intent activity.Intent) activity.Intent {
	if verify, ok := intent.(activity.VerifyOTPIntent); ok {
		verify.OTPCode = ""
		return verify
	}
	return intent
}
