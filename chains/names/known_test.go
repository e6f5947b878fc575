package names

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestWellKnownAgainstPublicLists: each token that is built in stands in a list that
// others wrote (testdata/tokens.json names them), with its symbol and decimals. Tron's
// USDT is in none that a package manager has.
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
	for _, known := range wellKnown {
		has := known.chain == "tron"
		for _, l := range lists {
			same := l.Address == known.address || known.chain != "solana" && strings.EqualFold(l.Address, known.address)
			if l.Chain != known.chain || !same && l.Name != known.symbol {
				continue
			}
			if !same || l.Name != known.symbol || l.Decimals != known.decimals {
				t.Errorf("%s on %s: %s with %d decimals here, %s %s with %d in %s", known.symbol, known.chain, known.address, known.decimals, l.Name, l.Address, l.Decimals, l.Source)
			}
			has = true
		}
		if !has {
			t.Errorf("%s on %s is in no list", known.symbol, known.chain)
		}
	}
}
