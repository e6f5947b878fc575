package solana_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

type vector struct {
	SecretKeySeedHex    string `json:"secretKeySeedHex"`
	Address             string `json:"address"`
	UnsignedTransaction string `json:"unsignedTransaction"`
	SignedTransaction   string `json:"signedTransaction"`
}

func vectors(t testing.TB) map[string]vector {
	t.Helper()
	return chaintest.Vectors[vector](t, "testdata/*.json")
}

// TestContract runs the contract of all chains.
func TestContract(t *testing.T) {
	samples := map[string]chaintest.Sample{}
	for name, v := range vectors(t) {
		samples[name] = chaintest.Sample{
			Raw: chaintest.Unhex(t, v.UnsignedTransaction),
			Key: chaintest.Key(t, keystore.CurveEd25519, chaintest.Unhex(t, v.SecretKeySeedHex)),
		}
	}
	samples["v1"] = chaintest.Sample{Raw: simple(solana.Version1, 1).bytes(), Key: ed25519Key(t, 0)}
	chaintest.Run(t, solana.Chain{}, samples)
}

func TestVectors(t *testing.T) {
	for name, v := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			key := chaintest.Key(t, keystore.CurveEd25519, chaintest.Unhex(t, v.SecretKeySeedHex))
			if got := (solana.Chain{}).Addresses(key.PublicKey()); !slices.Equal(got, []chains.Address{{Format: solana.AddressFormat, Address: v.Address}}) {
				t.Errorf("addresses %v, want %s", got, v.Address)
			}
			raw := chaintest.Unhex(t, v.UnsignedTransaction)
			if names := hazardNames(parse(t, raw)); names != nil {
				t.Errorf("hazards %v", names)
			}
			for _, signWith := range []string{v.Address, key.ID()} {
				signed, err := chaintest.Sign(t.Context(), solana.Chain{}, raw, signWith, key)
				if got := hex.EncodeToString(signed); err != nil || got != v.SignedTransaction {
					t.Errorf("signed with %s: %v\n got %s\nwant %s", signWith, err, got, v.SignedTransaction)
				}
			}
		})
	}
}

// TestParserFixtures parses the fixtures of another parser's tests: whole transactions
// are accepted, a message without slots is recognized, and the data of a single
// instruction is refused.
func TestParserFixtures(t *testing.T) {
	content := testenv.Read(t, testenv.Suite(t, "solana", "parser_fixtures.json"))
	var suite struct {
		Items []struct {
			Test string   `json:"test"`
			Hex  string   `json:"hex"`
			Full []string `json:"fullTransactionFlag"`
		} `json:"items"`
	}
	testenv.JSON(t, content, &suite)
	accepted := 0
	for _, item := range suite.Items {
		t.Run(item.Test, func(t *testing.T) {
			raw := chaintest.Unhex(t, item.Hex)
			tx, err := solana.New(solana.Limits{}).Parse(raw)
			switch {
			case len(item.Full) > 0 && strings.Contains(item.Full[0], "true"):
				testenv.Must(t, err)
				accepted++
				if !bytes.Equal(reencode(t, raw), raw) {
					t.Error("does not encode to itself")
				}
				tx.Summary().Digest()
			case len(item.Full) > 0:
				if err == nil || !strings.Contains(err.Error(), "this is a message alone") {
					t.Errorf("a bare message: %v", err)
				}
			case err == nil:
				t.Error("data of an instruction was accepted as a transaction")
			}
		})
	}
	if accepted != 4 {
		t.Errorf("%d fixtures were accepted, of 4 whole transactions", accepted)
	}
}
