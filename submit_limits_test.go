package countersign_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/store"
)

// daily is a Decider that charges a limit of two a day. It has its own message above the
// limit, and denies everything while closed.
type daily struct {
	asked, read atomic.Int64
	closed      atomic.Bool
	dearer      bool // once the limit is exhausted, another rule demands two approvals
}

func (d *daily) Authorize(ctx context.Context, asked access.Authorization) error {
	_, err := d.Decide(ctx, asked)
	return err
}

func (d *daily) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	d.asked.Add(1)
	if d.closed.Load() {
		return access.Decision{}, access.ErrDenied
	}
	charge := store.Charge{Limit: "daily", Subject: asked.User.ID, Amount: big.NewInt(1), Max: big.NewInt(2), Window: 24 * time.Hour}
	decision := access.Decision{Rules: []string{"daily"}, Charges: []store.Charge{charge}}
	if asked.Spent == nil {
		return decision, nil
	}
	d.read.Add(1)
	sum, frees, err := asked.Spent.Spent(ctx, asked.Organization.ID, charge)
	switch {
	case err != nil:
		return decision, err
	case sum.Cmp(big.NewInt(2)) < 0:
		return decision, nil
	case d.dearer:
		return access.Decision{Approvals: []access.Group{{Rule: "large", Count: 2}}}, nil
	}
	refusal := &store.LimitError{Charge: charge, Left: new(big.Int)}
	if !frees.IsZero() {
		refusal.RetryAfter = frees.Sub(asked.Now)
	}
	return decision, fmt.Errorf("%w: %w", access.ErrDenied, refusal)
}

// next returns a body that was not sent before.
func next(f *enginetest.Fixture) countersign.SignedBody {
	f.Clock.Advance(time.Millisecond)
	return f.APIKey.Sign(f.Body(enginetest.Request{}))
}

// TestLimitChargedOnce checks that two of three bodies are signed, and that repeats are
// not charged and can be read although the limit is exhausted and the policy denies.
func TestLimitChargedOnce(t *testing.T) {
	policy := new(daily)
	f := enginetest.New(t, engines.WithDecider(policy))
	sent, answers := []countersign.SignedBody{next(f), next(f)}, [][]byte{}
	for range 3 {
		for i := range sent {
			record := enginetest.MustSubmit(t, f.Engine, sent[i])
			if answer := record.AppendAnswer(nil); len(answers) < len(sent) {
				answers = append(answers, answer)
			} else if !bytes.Equal(answer, answers[i]) {
				t.Errorf("body %d is answered otherwise when it comes again", i)
			}
		}
	}
	_, err := f.Engine.Submit(t.Context(), next(f))
	refused := enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "1 is over the 0 left of 2 in 24h0m0s")
	if refused.RetryAfter <= 23*time.Hour || refused.RetryAfter > 24*time.Hour {
		t.Errorf("retry after %v", refused.RetryAfter)
	}
	policy.closed.Store(true)
	if _, err := f.Engine.Submit(t.Context(), sent[0]); err != nil {
		t.Errorf("a recorded answer, while the policy denies: %v", err)
	}
	_, err = f.Engine.Submit(t.Context(), next(f))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
	policy.closed.Store(false)
	f.Clock.Advance(24 * time.Hour)
	if _, err := f.Engine.Submit(t.Context(), next(f)); err != nil {
		t.Errorf("a day later: %v", err)
	}
	f.WantSignatures(t, 3)
}

// TestApprovalsEnforced checks that a request that needs approvals from others is not
// signed.
func TestApprovalsEnforced(t *testing.T) {
	f := enginetest.New(t, engines.WithDecider(&daily{dearer: true}))
	for range 2 {
		enginetest.MustSubmit(t, f.Engine, next(f))
	}
	_, err := f.Engine.Submit(t.Context(), next(f))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "rule large needs more approvals (2 missing)")
	f.WantSignatures(t, 2)
}
