package approvals

import (
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// TestTaken: what is taken from limits, also as the policy of an embedder says it: without a unit,
// and wrongly.
func TestTaken(t *testing.T) {
	ten, hundred := big.NewInt(10), big.NewInt(100)
	for _, test := range []struct {
		charges []store.Charge
		want    []string
	}{
		{[]store.Charge{
			{Limit: "day", Subject: "a", Amount: ten, Max: hundred, Window: time.Hour, Unit: "USDC", Decimals: 1},
			{Limit: "day", Subject: "b", Amount: ten, Max: hundred, Window: time.Hour},
			{Limit: "day", Subject: "a", Amount: ten, Max: hundred, Window: time.Hour, Unit: "USDC", Decimals: 1},
		}, []string{"2 USDC more of limit day, which allows 10 USDC in 1h0m0s", "10 more of limit day, which allows 100 in 1h0m0s"}},
		{[]store.Charge{{Limit: "day", Window: time.Hour}}, nil},
		{[]store.Charge{{Limit: "day", Amount: ten, Window: time.Hour}}, nil},
	} {
		if got := taken(test.charges); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
