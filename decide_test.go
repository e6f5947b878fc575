package countersign_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// delegating returns a transaction for mainnet with authorizations, all signed.
func delegating(t *testing.T, count int, gas uint64) string {
	t.Helper()
	key, err := crypto.GenerateKey()
	testenv.Must(t, err)
	signed, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(1), Address: common.Address{0xba}, Nonce: 8})
	testenv.Must(t, err)
	list := make([]types.SetCodeAuthorization, count)
	for i := range list {
		list[i] = signed
	}
	items, err := rlp.EncodeToBytes([]any{
		big.NewInt(1), uint64(7), big.NewInt(1), big.NewInt(2), gas, common.Address{1}, big.NewInt(0), []byte{}, types.AccessList{}, list,
	})
	testenv.Must(t, err)
	return "04" + hex.EncodeToString(items)
}

// TestRecoveredOnce checks that the signer of each of a transaction's authorizations is recovered
// once, whether the transaction is signed or refused.
func TestRecoveredOnce(t *testing.T) {
	const count = 1200
	for name, test := range map[string]struct {
		count      int
		gas        uint64
		policy     string // of rules; empty: none
		allow      []string
		recoveries int64
		refusal    string
	}{
		"gas over the cap":           {count, 1 << 33, "", nil, count, "ethereum/gas-over-cap"},
		"gas below what they cost":   {count, 100_000, "", nil, count, "ethereum/never-included"},
		"a rule that could allow it": {count, 1 << 33, "ethereum/gas-over-cap", nil, count, ""},
		"allowed":                    {count, 1 << 33, "", []string{"ethereum/gas-over-cap"}, count, ""},
		"few":                        {3, 1 << 33, "", nil, 3, "ethereum/gas-over-cap"},
	} {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, func(config *countersign.Config) {
				config.AllowHazards = test.allow
				if test.policy != "" {
					config.Policy = ruleAllowing(t, test.policy)
				}
			})
			body := f.Body(enginetest.Request{Unsigned: delegating(t, test.count, test.gas)})
			before := evm.Recoveries()
			_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
			if made := evm.Recoveries() - before; made != test.recoveries {
				t.Errorf("%d recoveries, want %d", made, test.recoveries)
			}
			if test.refusal != "" {
				enginetest.Refusal(t, err, activity.ReasonHazardNotAllowed, test.refusal)
			}
		})
	}
}

// ruleAllowing returns a policy with one rule, which allows a hazard.
func ruleAllowing(t *testing.T, hazard string) access.Decider {
	t.Helper()
	file, err := policy.Parse("policy.yaml", []byte(strings.ReplaceAll(`schema: countersign.policy/2
rules:
  - name: all
    allow: call
    of: transactions
    chains: [eip155:1, solana, tron]
    hazards: HAZARD
`, "HAZARD", hazard)), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
	testenv.Must(t, err)
	return file
}

// seen keeps the latest observation.
type seen struct{ countersign.Observation }

func (s *seen) Observe(observation countersign.Observation) { s.Observation = observation }

// TestObservedRule checks that an observer learns which rule refused a request.
func TestObservedRule(t *testing.T) {
	file, err := policy.Parse("policy.yaml", []byte("schema: countersign.policy/2\nrules: [{name: never, deny: transfer}]\n"), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
	testenv.Must(t, err)
	observed := new(seen)
	f := enginetest.New(t, func(config *countersign.Config) { config.Policy, config.Observer = file, observed })
	_, err = f.Submit(t, enginetest.Request{})
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "rule never")
	if observed.Rule != "never" || observed.UserID != "user-1" {
		t.Errorf("observed %+v", observed.Observation)
	}
}

func TestPolicyAuthorization(t *testing.T) {
	var asked access.Authorization
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(_ context.Context, seen access.Authorization) error { asked = seen; return nil })
	})
	enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{})))
	inspection, err := all.Inspect(activity.TransactionTypeEthereum, enginetest.Unsigned, all.Limits{})
	testenv.Must(t, err)
	if asked.Organization.Name != "Example" || asked.User.Name != "ci" || asked.Chain != inspection.Summary.Chain || asked.Summary().Digest() != inspection.Summary.Digest() ||
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
