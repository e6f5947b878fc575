//go:build linux && (amd64 || arm64)

package tron

import (
	"math"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
)

// TestOverTwoGiB checks that a transaction is refused whose offsets do not fit into a
// value, whatever the limits allow.
func TestOverTwoGiB(t *testing.T) {
	_, err := New(Limits{MaxSize: math.MaxInt}).Parse(chaintest.Untouched(t, 1<<31))
	if want := "tron: 2147483648 bytes, the network accepts 2147483647"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
