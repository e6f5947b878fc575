//go:build linux && (amd64 || arm64)

package rlp_test

import (
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// TestOverTwoGiB checks that a transaction is refused whose offsets do not fit into a
// Span.
func TestOverTwoGiB(t *testing.T) {
	raw := chaintest.Untouched(t, 1<<31)
	f := rlp.Open("test", raw, 0)
	checkFault(t, "2 GiB", f.Err(), "test: at byte 0: over 2 GiB")
	f = rlp.Open("test", raw[1:], 0)
	checkFault(t, "a byte less", f.Err(), "test: at byte 0: a string where the list of fields should be")
}
