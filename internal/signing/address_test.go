package signing

import (
	"strings"
	"testing"
)

// TestLooksLike: an address of another chain, or without 0x, is called what it is; an address
// of the chain itself, a name and an id are not.
func TestLooksLike(t *testing.T) {
	addresses := map[string]string{
		"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56":     "Ethereum",
		"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu":     "Bitcoin",
		"TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSX":     "Bitcoin",
		"1BoatSLRHtKNngkdXEeobR76b53LETtpyT":             "Bitcoin",
		"3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy":             "Bitcoin",
		"TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC":             "Tron",
		"4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T":   "Solana",
		"97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56":       "0x is missing",
		"0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a":           "",
		"hot wallet":                                     "",
		"":                                               "",
		"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c":       "",
		"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56zzzz": "",
	}
	for address, of := range addresses {
		for _, chain := range []string{"ethereum", "tempo", "bitcoin", "tron", "solana"} {
			want := of
			switch {
			case strings.EqualFold(of, chain), of == "Ethereum" && chain == "tempo", of == "0x is missing" && chain != "ethereum" && chain != "tempo":
				want = ""
			}
			if got := looksLike(address, chain); (want == "") != (got == "") || !strings.Contains(got, want) {
				t.Errorf("%q on %s: %q, want %q", address, chain, got, want)
			}
		}
	}
}
