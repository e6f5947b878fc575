package countersign_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store"
)

// daily is a Decider that charges one of at most two a day; above that it has
// a message of its own, and it denies what it is told to.
type daily struct {
	asked, read atomic.Int64
	closed      atomic.Bool
	dearer      bool // after a limit is used up, another rule asks for two people
}

func (d *daily) Authorize(ctx context.Context, asked countersign.Authorization) error {
	_, err := d.Decide(ctx, asked)
	return err
}

func (d *daily) Decide(ctx context.Context, asked countersign.Authorization) (countersign.Decision, error) {
	d.asked.Add(1)
	if d.closed.Load() {
		return countersign.Decision{}, countersign.ErrDenied
	}
	charge := store.Charge{Limit: "daily", Subject: asked.User.ID, Amount: big.NewInt(1), Max: big.NewInt(2), Window: 24 * time.Hour}
	decision := countersign.Decision{Rules: []string{"daily"}, Charges: []store.Charge{charge}}
	if asked.Spent == nil {
		return decision, nil
	}
	d.read.Add(1)
	sum, frees, err := asked.Spent.Spent(ctx, asked.Organization.ID, charge.Limit, charge.Subject, charge.Window)
	switch {
	case err != nil:
		return decision, err
	case sum.Cmp(big.NewInt(2)) < 0:
		return decision, nil
	case d.dearer:
		return countersign.Decision{Approvals: []countersign.Approval{{Rule: "large", Count: 2}}}, nil
	}
	return decision, &countersign.LimitExceeded{Limit: "daily", Left: new(big.Int), Text: "limit daily: 0 left of 2", Frees: frees}
}

func withDecider(d countersign.Decider) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Policy = d }
}

// next is a body unlike all before.
func next(f *enginetest.Fixture) countersign.SignedBody {
	f.Clock.Advance(time.Millisecond)
	return f.APIKey.Sign(f.Body(enginetest.Request{}))
}

// TestLimitIsChargedOnce: two of three bodies are signed; repeats are charged
// nothing and stay readable, though the limit is used up and the policy says no.
func TestLimitIsChargedOnce(t *testing.T) {
	policy := new(daily)
	f := enginetest.New(t, withDecider(policy))
	sent, answers := []countersign.SignedBody{next(f), next(f)}, [][]byte{}
	for range 3 {
		for i := range sent {
			record, err := f.Engine.Submit(t.Context(), sent[i])
			if err != nil {
				t.Fatal(err)
			}
			if answer := record.AppendAnswer(nil); len(answers) < len(sent) {
				answers = append(answers, answer)
			} else if !bytes.Equal(answer, answers[i]) {
				t.Errorf("body %d is answered otherwise when it comes again", i)
			}
		}
	}
	_, err := f.Engine.Submit(t.Context(), next(f))
	refused := refusal(t, err, activity.ReasonLimitExceeded, "limit daily: 0 left of 2")
	if refused.RetryAfter <= 23*time.Hour || refused.RetryAfter > 24*time.Hour {
		t.Errorf("retry after %v", refused.RetryAfter)
	}
	policy.closed.Store(true)
	if _, err := f.Engine.Submit(t.Context(), sent[0]); err != nil {
		t.Errorf("a recorded answer, while the policy denies: %v", err)
	}
	_, err = f.Engine.Submit(t.Context(), next(f))
	refusal(t, err, activity.ReasonNotAuthorized, "")
	policy.closed.Store(false)
	f.Clock.Advance(24 * time.Hour)
	if _, err := f.Engine.Submit(t.Context(), next(f)); err != nil {
		t.Errorf("a day later: %v", err)
	}
	if n := f.Signing.Signatures.Load(); n != 3 {
		t.Errorf("%d signatures", n)
	}
}

// TestLimitOfFailedSignatures: a key that cannot sign uses nothing up.
func TestLimitOfFailedSignatures(t *testing.T) {
	f := enginetest.New(t, withDecider(new(daily)))
	away := true
	f.Signing.Before = func(context.Context) error {
		if away {
			return errors.New("the token is away")
		}
		return nil
	}
	for range 5 {
		if _, err := f.Engine.Submit(t.Context(), next(f)); err == nil {
			t.Fatal("signed without a key")
		}
	}
	away = false
	for range 2 {
		if _, err := f.Engine.Submit(t.Context(), next(f)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.Engine.Submit(t.Context(), next(f))
	refusal(t, err, activity.ReasonLimitExceeded, "")
}

// TestLimitAtOnce: of 64 clients two are served.
func TestLimitAtOnce(t *testing.T) {
	f := enginetest.New(t, withDecider(new(daily)))
	var signed atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		sent := next(f)
		group.Go(func() {
			_, err := f.Engine.Submit(t.Context(), sent)
			if err == nil {
				signed.Add(1)
				return
			}
			refusal(t, err, activity.ReasonLimitExceeded, "")
		})
	}
	group.Wait()
	if signed.Load() != 2 || f.Signing.Signatures.Load() != 2 {
		t.Errorf("%d answers, %d signatures", signed.Load(), f.Signing.Signatures.Load())
	}
}

// TestApprovalsAreNotLeftOut: what needs the votes of others is not signed.
func TestApprovalsAreNotLeftOut(t *testing.T) {
	f := enginetest.New(t, withDecider(&daily{dearer: true}))
	for range 2 {
		if _, err := f.Engine.Submit(t.Context(), next(f)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.Engine.Submit(t.Context(), next(f))
	refusal(t, err, activity.ReasonNotAuthorized, "rule large needs 1 more approvals")
	if n := f.Signing.Signatures.Load(); n != 2 {
		t.Errorf("%d signatures", n)
	}
}
