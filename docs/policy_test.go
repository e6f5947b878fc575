package docs_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// newUnder returns an engine with the policy in a file.
func newUnder(path string, keys keystore.Keystore, records store.Store, directory access.Directory, now func() time.Time) (*countersign.Engine, error) {
	payouts, err := policy.Load(path, policy.Options{Chains: all.Chains(all.Limits{})})
	if err != nil {
		return nil, err // all problems of the file, with their lines
	}
	return countersign.New(countersign.Config{
		Chains: all.Chains(all.Limits{}), Keystore: keys, Store: records, Directory: directory, Policy: payouts, Now: now,
	})
}

// TestPolicyFile checks that only what the file allows is signed.
func TestPolicyFile(t *testing.T) {
	const payee = "effect.to == address('0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7') && "
	for condition, allowed := range map[string]bool{"effect.amount <= ether('1')": true, "effect.amount < ether('1')": false} {
		path := filepath.Join(t.TempDir(), "payouts.yaml")
		text := fmt.Sprintf("schema: countersign.policy/2\nrules:\n  - {name: payouts, allow: transfer, when: %q}\n  - {name: gas, allow: fee, when: \"effect.amount <= ether('0.02')\"}\n", payee+condition)
		testenv.Write(t, path, []byte(text))
		f := enginetest.New(t)
		engine, err := newUnder(path, f.Config.Keystore, memory.New(0), f.Config.Directory, f.Config.Now)
		testenv.Must(t, err)
		_, err = engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{Unsigned: transfer})))
		if allowed != (err == nil) {
			t.Errorf("when %s: %v", condition, err)
		}
	}
}

// transfer pays one ether.
const transfer = "02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0"

// payouts allows transfers of ether on chain 1 to known addresses, and fees, of at
// most limit wei in one request. Everything else is denied.
func payouts(known []string, limit *big.Int) access.PolicyFunc {
	ether := chains.Native("eip155:1")
	return func(_ context.Context, asked access.Authorization) error {
		total := new(big.Int)
		for _, effect := range asked.Effects {
			switch {
			case effect.Undecoded || effect.By != chains.BySigner:
				return fmt.Errorf("%w: %s: unknown effect", access.ErrDenied, effect.Path)
			case !effect.Asset.Equal(ether) || effect.Amount.IsUnknown():
				return fmt.Errorf("%w: %s: not an amount of ether", access.ErrDenied, effect.Path)
			case effect.Kind == chains.KindTransfer && !slices.Contains(known, effect.To.String()):
				return fmt.Errorf("%w: %s is not a known address", access.ErrDenied, effect.To)
			case effect.Kind != chains.KindTransfer && effect.Kind != chains.KindFee:
				return fmt.Errorf("%w: %s is not a payout", access.ErrDenied, effect.Kind)
			}
			if total.Add(total, effect.Amount.Value).Cmp(limit) > 0 {
				return fmt.Errorf("%w: more than %s wei", access.ErrDenied, limit)
			}
		}
		return nil
	}
}

// TestPolicy asks the policy about a transfer, about calls and about delegations.
func TestPolicy(t *testing.T) {
	const to = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	const call = "02f86d0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b780b844a9059cbb" +
		"00000000000000000000000011111111111111111111111111111111111111110000000000000000000000000000000000000000000000000000000000000001c0"
	const withDelegation = "04f8860107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0f85c" +
		"f85a019411111111111111111111111111111111111111110880a01989e8aa75838068e4a79a4ab483fea0ec164036c4a90722369108a8b34a23f5a0562c90aa13e1d32ba3d9867703da8bf8ddad63d04ec15cbfc6fd38e8d11b4ed9"
	ether := big.NewInt(1e18 + 420e12) // one ether and the fee
	for name, test := range map[string]struct {
		unsigned string
		policy   access.Policy
		reason   activity.Reason
	}{
		"a known address":    {transfer, payouts([]string{to}, ether), ""},
		"an unknown address": {transfer, payouts(nil, ether), activity.ReasonNotAuthorized},
		"too much":           {transfer, payouts([]string{to}, big.NewInt(1e18)), activity.ReasonNotAuthorized},
		"a call":             {call, payouts([]string{to}, ether), activity.ReasonNotAuthorized},
		"with a delegation":  {withDelegation, payouts([]string{to}, ether), activity.ReasonNotAuthorized},
	} {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, func(c *countersign.Config) {
				c.Policy, c.AllowHazards = test.policy, []string{"ethereum/delegation"}
			})
			_, err := f.Submit(t, enginetest.Request{Unsigned: test.unsigned})
			var reason activity.Reason
			if refused, ok := errors.AsType[*activity.Error](err); ok {
				reason = refused.Reason
			}
			if reason != test.reason {
				t.Errorf("%v, want %q", err, test.reason)
			}
		})
	}
}

// TestFixture shows how to test a policy of one's own.
func TestFixture(t *testing.T) {
	noPayees := payouts(nil, big.NewInt(1e18))

	f := enginetest.New(t, func(c *countersign.Config) { c.Policy = noPayees })
	_, err := f.Submit(t, enginetest.Request{})
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonNotAuthorized {
		t.Errorf("%v, want %s", err, activity.ReasonNotAuthorized)
	}
}
