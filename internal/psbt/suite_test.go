package psbt_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// bipVector is one PSBT of BIP-174, 370, 371 or 373.
type bipVector struct {
	BIP, Section, Case, Hex string
}

func bipVectors(t testing.TB) []bipVector {
	t.Helper()
	text := testenv.Read(t, testenv.Suite(t, "bitcoin", "bip_psbt.json"))
	var suite struct{ Vectors []bipVector }
	testenv.JSON(t, text, &suite)
	return suite.Vectors
}

func (v bipVector) invalid() bool {
	return strings.Contains(v.Section, "are invalid") || strings.Contains(v.Section, "cannot be computed")
}

// wantParseError checks that a refusal names its field and a byte.
func wantParseError(t *testing.T, err error) {
	t.Helper()
	parse, ok := errors.AsType[*chains.ParseError](err)
	if !ok || parse.Chain != "bitcoin" || parse.Field == "" || parse.Offset < 5 || parse.Problem == "" {
		t.Errorf("a refusal must name its field and a byte: %#v", err)
	}
}

// TestBIPs reads every PSBT of the BIPs: each valid one must re-encode identically,
// each invalid one must be refused, and the locktimes must be right.
func TestBIPs(t *testing.T) {
	vectors := bipVectors(t)
	if len(vectors) != 130 {
		t.Fatalf("%d vectors, want 130", len(vectors))
	}
	for i, vector := range vectors {
		raw := testenv.Hex(t, vector.Hex)
		packet, err := psbt.Read(raw)
		switch {
		case vector.invalid() && err == nil:
			t.Errorf("%d (%s) %s: accepted", i, vector.BIP, vector.Case)
		case vector.invalid():
			wantParseError(t, err)
		case err != nil:
			t.Errorf("%d (%s) %s: %v", i, vector.BIP, vector.Case, err)
		case !bytes.Equal(packet.Encode(), raw):
			t.Errorf("%d (%s) %s: written back differently", i, vector.BIP, vector.Case)
		}
		if _, want, ok := strings.Cut(vector.Section, "should be computed to be "); ok && err == nil {
			if got := strconv.Itoa(int(packet.LockTime)); got+":" != want {
				t.Errorf("%d %s: locktime %s, want %s", i, vector.Case, got, want)
			}
		}
	}
}
