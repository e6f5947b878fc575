package solana_test

import (
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// danger is a transaction that an attacker or a current client wrote for the key whose
// secret is 0x11 in each byte.
type danger struct {
	Name    string   `json:"name"`
	Hex     string   `json:"hex"`
	Refused string   `json:"refused"` // part of the parser's error
	Hazards []string `json:"hazards"` // otherwise the hazards, none for an honest one
	Why     string   `json:"why"`
}

// TestDangers checks that transactions that once took money with "hazards none" are
// refused or carry the hazard that says why, and that honest ones have none.
func TestDangers(t *testing.T) {
	var dangers []danger
	chaintest.ReadJSON(t, "testdata/dangers/dangers.json", &dangers)
	key := chaintest.Key(t, keystore.CurveEd25519, slices.Repeat([]byte{0x11}, ed25519.SeedSize))
	for _, d := range dangers {
		t.Run(d.Name, func(t *testing.T) {
			tx, err := solana.Chain{}.Parse(chaintest.Unhex(t, d.Hex))
			if d.Refused != "" {
				if err == nil || !strings.Contains(err.Error(), d.Refused) {
					t.Errorf("got %v, want it refused: %s", err, d.Refused)
				}
				return
			}
			testenv.Must(t, err)
			signing := chaintest.MustReady(t, tx, key.ID(), key)
			if got := chaintest.Names(signing.Hazards()); !slices.Equal(got, d.Hazards) {
				t.Errorf("hazards %v, want %v: %s", got, d.Hazards, d.Why)
			}
		})
	}
}
