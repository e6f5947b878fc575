package tempo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
)

// TestSigners covers addresses in any case but with the right checksum, and ids of
// keys.
func TestSigners(t *testing.T) {
	tx := parse(t, chaintest.Unhex(t, typed(items...)))
	const checksummed = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	byAddress := keystore.ByKeccak([20]byte(chaintest.Unhex(t, checksummed)))
	for signWith, want := range map[string]keystore.Locator{
		checksummed:                  byAddress,
		strings.ToLower(checksummed): byAddress,
		"treasury":                   keystore.ByID("treasury"),
	} {
		request, err := tx.Request(signWith)
		if err != nil || len(request.Locators()) != 1 || request.Locators()[0] != want {
			t.Errorf("%s: %v", signWith, err)
		}
	}
	for _, signWith := range []string{strings.Replace(checksummed, "cC", "CC", 1), checksummed[:40], "0x"} {
		_, err := tx.Request(signWith)
		if refused, ok := errors.AsType[*chains.SignerError](err); !ok || refused.Chain != tempo.Name || !errors.Is(err, chains.ErrSignWith) {
			t.Errorf("%s: %v", signWith, err)
		}
	}
}
