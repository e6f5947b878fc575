package names_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestWellKnownAgainstPublicLists: each built-in token is in a public list, with its symbol
// and decimals (testdata/tokens.json names the lists). No package manager has a list with
// Tron's USDT.
func TestWellKnownAgainstPublicLists(t *testing.T) {
	text := testenv.Read(t, "testdata/tokens.json")
	var lists []struct {
		Source, Name, Chain, Address string
		Decimals                     int
	}
	testenv.JSON(t, text, &lists)
	for _, token := range chains.ListedTokens() {
		listed := token.Chain == "tron"
		for _, l := range lists {
			same := l.Address == token.Address || token.Chain != "solana" && strings.EqualFold(l.Address, token.Address)
			if l.Chain != token.Chain || !same && l.Name != token.Symbol {
				continue
			}
			if !same || l.Name != token.Symbol || l.Decimals != token.Decimals {
				t.Errorf("%s on %s: %s with %d decimals here, %s %s with %d in %s", token.Symbol, token.Chain, token.Address, token.Decimals, l.Name, l.Address, l.Decimals, l.Source)
			}
			listed = true
		}
		if !listed {
			t.Errorf("%s on %s is in no list", token.Symbol, token.Chain)
		}
	}
}
