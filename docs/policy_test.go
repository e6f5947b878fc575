package docs_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/enginetest"
)

// plainLabels are what the summary of a plain transfer has. One with more (a
// call, an access list, authorizations, a creation) is something else.
var plainLabels = []string{"type", "chain", "to", "value", "maximum fee", "gas", "max fee per gas", "max priority fee per gas", "nonce"}

// plainTransfers allows transfers of ether on chain 1 to known addresses, if
// value and fee together are at most limit wei, and no other transaction.
func plainTransfers(known []string, limit *big.Int) countersign.PolicyFunc {
	return func(_ context.Context, asked countersign.Authorization) error {
		if asked.Summary == nil {
			return nil // no transaction: a one-time password
		}
		fields := map[string]string{}
		for _, field := range asked.Summary.Fields {
			if !slices.Contains(plainLabels, field.Label) {
				return fmt.Errorf("%w: %s: not a plain transfer", countersign.ErrDenied, field.Label)
			}
			fields[field.Label] = field.Value
		}
		value, ok := new(big.Int).SetString(fields["value"], 10)
		fee, hasFee := new(big.Int).SetString(fields["maximum fee"], 10)
		switch {
		case asked.Summary.Chain != "ethereum" || fields["chain"] != "1" || !ok || !hasFee:
			return fmt.Errorf("%w: not a plain transfer on Ethereum", countersign.ErrDenied)
		case !slices.Contains(known, fields["to"]):
			return fmt.Errorf("%w: %s is not a known address", countersign.ErrDenied, fields["to"])
		case value.Add(value, fee).Cmp(limit) > 0:
			return fmt.Errorf("%w: more than %s wei", countersign.ErrDenied, limit)
		}
		return nil
	}
}

// TestPolicy asks it about a transfer, about calls and about delegations.
func TestPolicy(t *testing.T) {
	const transfer = "02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0"
	const to = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	const call = "02f86d0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b780b844a9059cbb" +
		"00000000000000000000000011111111111111111111111111111111111111110000000000000000000000000000000000000000000000000000000000000001c0"
	const withDelegation = "04f8860107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0f85c" +
		"f85a019411111111111111111111111111111111111111110880a01989e8aa75838068e4a79a4ab483fea0ec164036c4a90722369108a8b34a23f5a0562c90aa13e1d32ba3d9867703da8bf8ddad63d04ec15cbfc6fd38e8d11b4ed9"
	ether := big.NewInt(1e18 + 420e12) // one, and the fee
	for name, test := range map[string]struct {
		unsigned string
		policy   countersign.Policy
		reason   activity.Reason
	}{
		"a known address":    {transfer, plainTransfers([]string{to}, ether), ""},
		"an unknown address": {transfer, plainTransfers(nil, ether), activity.ReasonNotAuthorized},
		"too much":           {transfer, plainTransfers([]string{to}, big.NewInt(1e18)), activity.ReasonNotAuthorized},
		"a call":             {call, plainTransfers([]string{to}, ether), activity.ReasonNotAuthorized},
		"with a delegation":  {withDelegation, plainTransfers([]string{to}, ether), activity.ReasonNotAuthorized},
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
