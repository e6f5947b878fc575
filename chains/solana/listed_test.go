package solana

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestListedMintsAreUnspendable: the mints of the built-in tokens, and of wrapped SOL, are
// the mints among the accounts that no one can spend from.
func TestListedMintsAreUnspendable(t *testing.T) {
	table := testenv.Read(t, unspendableFile)
	mints := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if address, what, _ := strings.Cut(line, " "); strings.TrimSpace(what) == aMint {
			mints[address] = true
		}
	}
	want := []string{"So11111111111111111111111111111111111111112", "9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9"}
	for _, token := range chains.ListedTokens() {
		if token.Chain == Name {
			want = append(want, token.Address)
		}
	}
	if len(want) < 4 || len(mints) != len(want) {
		t.Errorf("%d mints, want %d", len(mints), len(want))
	}
	for _, mint := range want {
		if !mints[mint] {
			t.Errorf("%s can be spent from", mint)
		}
	}
}
