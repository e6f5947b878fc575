package names

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestWellKnownAgainstPublicLists: each built-in token is in a public list, with its symbol
// and decimals (testdata/tokens.json names the lists). No package manager has a list with
// Tron's USDT.
func TestWellKnownAgainstPublicLists(t *testing.T) {
	text, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var lists []struct {
		Source, Name, Chain, Address string
		Decimals                     int
	}
	if err := json.Unmarshal(text, &lists); err != nil {
		t.Fatal(err)
	}
	for _, token := range wellKnown {
		listed := token.chain == "tron"
		for _, l := range lists {
			same := l.Address == token.address || token.chain != "solana" && strings.EqualFold(l.Address, token.address)
			if l.Chain != token.chain || !same && l.Name != token.symbol {
				continue
			}
			if !same || l.Name != token.symbol || l.Decimals != token.decimals {
				t.Errorf("%s on %s: %s with %d decimals here, %s %s with %d in %s", token.symbol, token.chain, token.address, token.decimals, l.Name, l.Address, l.Decimals, l.Source)
			}
			listed = true
		}
		if !listed {
			t.Errorf("%s on %s is in no list", token.symbol, token.chain)
		}
	}
}
