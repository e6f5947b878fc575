package bitcoin_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

// TestDanger has transactions that an audit found wrongly signed or refused, with the
// required outcome if nothing is allowed. The key's secret is 22 32 times.
func TestDanger(t *testing.T) {
	var cases []struct {
		Name, Source, Want, Shows, PSBT string
		Hazards                         []string
	}
	chaintest.ReadJSON(t, "testdata/danger/danger.json", &cases)
	key := keyOf(t, secretOf(0x22))
	for _, c := range cases {
		_, _, signed := signDefault(t, chaintest.Unhex(t, c.PSBT), key, key.ID())
		if want := c.Want == "sign"; signed != want {
			t.Errorf("%s: signed %t, want %t", c.Name, signed, want)
		}
		if c.Hazards != nil {
			wantHazards(t, chaintest.Unhex(t, c.PSBT), key.PublicKey(), c.Hazards...)
		}
		if c.Shows == "" {
			continue
		}
		if shown := string(chaintest.Describe(t, bitcoin.New(bitcoin.Limits{}), chaintest.Unhex(t, c.PSBT), key)); !strings.Contains(shown, c.Shows) {
			t.Errorf("%s: no %q in\n%s", c.Name, c.Shows, shown)
		}
	}
}

// TestDangerForAnyone has transactions with the hazards that they have with every signer.
func TestDangerForAnyone(t *testing.T) {
	var cases []struct {
		Name, PSBT string
		Hazards    []string
	}
	chaintest.ReadJSON(t, "testdata/danger/outputs.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { wantHazards(t, chaintest.Unhex(t, c.PSBT), keystore.PublicKey{}, c.Hazards...) })
	}
}
