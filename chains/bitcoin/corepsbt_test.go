package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// coreVectors are the PSBTs that Bitcoin Core's functional tests and HWI's run on
// (bitcoin-core/HWI, test/data/test_psbt.json at 4ae6006, of 2026-08-21), as base64. The
// second signer's signature with a high r, which Core has not made since 0.17, is replaced
// by that of Core's test/functional/data/rpc_psbt.json (the combiner's second PSBT).
type coreVectors struct {
	Invalid, Valid       []string
	Locktimes            [][2]any // PSBT, locktime
	ConflictingLocktimes []string `json:"conflicting_locktimes"`
	Signer               []struct {
		Privkeys     []string
		PSBT, Result string
	}
	Finalizer []struct{ Finalize, Result string }
	Extractor []struct{ Extract, Result string }
}

func readPSBTs(t *testing.T, name string, into any) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/psbt/"+name), into)
}

func readCoreVectors(t *testing.T) (vectors coreVectors) {
	t.Helper()
	readPSBTs(t, "core.json", &vectors)
	return vectors
}

// TestSparrowPSBTs reads the PSBTs of Sparrow's own tests as a signer
// (sparrowwallet/drongo, PSBTTest.java at b385610, of 2026-08-21, by the name of its
// test). Its silent payments are not included: they write counts in four bytes, which
// BIP-370 does not.
func TestSparrowPSBTs(t *testing.T) {
	var packets map[string]string
	readPSBTs(t, "sparrow.json", &packets)
	if len(packets) == 0 {
		t.Error("no vectors")
	}
	for name, text := range packets {
		tx, err := bitcoin.Chain{}.Parse(unbase64(t, text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if tx.Summary().Digest() == ([32]byte{}) {
			t.Errorf("%s: no summary", name)
		}
	}
}

// TestCorePSBTs reads what Core and HWI accept, to the byte, and refuses what they
// refuse.
func TestCorePSBTs(t *testing.T) {
	vectors := readCoreVectors(t)
	for i, text := range vectors.Valid {
		packet, err := psbt.Read(unbase64(t, text))
		if err != nil {
			t.Errorf("valid %d: %v", i, err)
		} else if !bytes.Equal(packet.Encode(), packet.Raw) {
			t.Errorf("valid %d: written back differently", i)
		}
	}
	for i, text := range vectors.Invalid {
		if _, err := psbt.Read(unbase64(t, text)); err == nil {
			if _, err := (bitcoin.Chain{}).Parse(unbase64(t, text)); err == nil {
				t.Errorf("invalid %d: accepted: %s", i, text)
			}
		}
	}
	for i, text := range vectors.ConflictingLocktimes {
		if _, err := psbt.Read(unbase64(t, text)); err == nil {
			t.Errorf("conflicting locktimes %d: accepted", i)
		}
	}
	for i, c := range vectors.Locktimes {
		packet, err := psbt.Read(unbase64(t, c[0].(string)))
		if err != nil {
			t.Errorf("locktimes %d: %v", i, err)
			continue
		}
		unsigned := packet.Unsigned()
		got := uint32(unsigned[len(unsigned)-4]) | uint32(unsigned[len(unsigned)-3])<<8 | uint32(unsigned[len(unsigned)-2])<<16 | uint32(unsigned[len(unsigned)-1])<<24
		if got != uint32(c[1].(float64)) {
			t.Errorf("locktimes %d: %d, want %v", i, got, c[1])
		}
	}
}

// sortedRecords returns the records of a PSBT's inputs, sorted, because Core orders
// signatures by the hash of their key.
func sortedRecords(t *testing.T, raw []byte) (records []string) {
	t.Helper()
	packet := packetOf(t, raw)
	for i := range packet.Inputs {
		for _, record := range packet.Inputs[i].Records {
			records = append(records, fmt.Sprintf("%d %02x%x=%x", i, record.Type, record.Key, record.Value))
		}
	}
	slices.Sort(records)
	return records
}

// TestCorePSBTRoles checks that signing yields the records of Core and HWI, and that
// finalizing and extracting yields their bytes.
func TestCorePSBTRoles(t *testing.T) {
	vectors := readCoreVectors(t)
	var counts testenv.Outcomes
	for i, c := range vectors.Signer {
		signed := unbase64(t, c.PSBT)
		for _, wif := range c.Privkeys {
			key := keyOfWIF(t, wif)
			signing, err := chaintest.Ready(parse(t, signed), key.ID(), key)
			if err != nil {
				t.Fatalf("signer %d: %v", i, err)
			}
			counts.Add(false, len(signing.Hazards()))
			next, err := sign(t.Context(), parse(t, signed), key.ID(), key)
			if err != nil {
				t.Fatalf("signer %d: %v", i, err)
			}
			signed = next
		}
		if got, want := sortedRecords(t, signed), sortedRecords(t, unbase64(t, c.Result)); !slices.Equal(got, want) {
			t.Errorf("signer %d\n got %q\nwant %q", i, got, want)
		}
	}
	testenv.ClientRow(t, "Bitcoin Core, HWI (PSBT)", counts)
	for i, c := range vectors.Finalizer {
		final, err := bitcoin.Finalize(unbase64(t, c.Finalize))
		if err != nil {
			t.Errorf("finalizer %d: %v", i, err)
			continue
		}
		if theirs, err := bitcoin.Finalize(unbase64(t, c.Result)); err != nil || !bytes.Equal(final, theirs) {
			t.Errorf("finalizer %d: %x, want %x %v", i, final, theirs, err)
		}
	}
	for i, c := range vectors.Extractor {
		if final, err := bitcoin.Finalize(unbase64(t, c.Extract)); err != nil || hex.EncodeToString(final) != c.Result {
			t.Errorf("extractor %d: %x %v", i, final, err)
		}
	}
	if len(vectors.Signer) == 0 || len(vectors.Finalizer) == 0 || len(vectors.Extractor) == 0 {
		t.Error("no vectors")
	}
}
