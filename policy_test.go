package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
)

func TestPolicyAuthorization(t *testing.T) {
	var asked access.Authorization
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(_ context.Context, seen access.Authorization) error { asked = seen; return nil })
	})
	enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{})))
	inspection, err := all.Inspect(activity.TransactionTypeEthereum, enginetest.Unsigned, all.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if asked.Organization.Name != "Example" || asked.User.Name != "ci" || asked.Summary.Digest() != inspection.Summary.Digest() ||
		asked.Intent.(activity.SignTransactionIntent).UnsignedTransaction != enginetest.Unsigned || asked.Credential.PublicKeyText() != f.APIKey.PublicKey {
		t.Errorf("asked %+v", asked)
	}
}

// TestPolicyOnRepeat checks that a recorded answer is not repeated for a credential that
// is denied now.
func TestPolicyOnRepeat(t *testing.T) {
	var denied error
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(context.Context, access.Authorization) error { return denied })
	})
	sent := f.APIKey.Sign(f.Body(enginetest.Request{}))
	enginetest.MustSubmit(t, f.Engine, sent)
	denied = fmt.Errorf("%w: over the limit of the day", access.ErrDenied)
	_, err := f.Engine.Submit(t.Context(), sent)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "over the limit of the day")
	denied = nil
	if _, err := f.Engine.Submit(t.Context(), sent); err != nil {
		t.Error(err)
	}
	f.WantSignatures(t, 1)
}

// TestPolicyError checks that nothing is allowed if the policy fails, and that the
// answer does not say why.
func TestPolicyError(t *testing.T) {
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(context.Context, access.Authorization) error { return errors.New("db.internal: refused") })
	})
	_, err := f.Submit(t, enginetest.Request{})
	if refused := enginetest.Refusal(t, err, activity.ReasonUnavailable, "could not decide"); refused.Message != "the policy could not decide: try again" {
		t.Errorf("the caller is told %s", refused.Message)
	}
	f.WantSignatures(t, 0)
}

// TestPolicyNotBypassed checks that calls without a user are refused under a policy.
func TestPolicyNotBypassed(t *testing.T) {
	deny := access.PolicyFunc(func(context.Context, access.Authorization) error { return access.ErrDenied })
	f := enginetest.New(t, func(c *countersign.Config) { c.Policy = deny })
	intent := ethereumIntent(enginetest.Address, enginetest.Unsigned)
	_, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, intent)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "this engine has a Policy")
	_, err = f.Engine.Prepare(t.Context(), enginetest.Organization, intent)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "this engine has a Policy")
	f.WantSignatures(t, 0)
}
