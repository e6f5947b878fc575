package eip712_test

import (
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign/internal/drawn"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestAgainstApitypes compares the digests of random typed data with go-ethereum's.
func TestAgainstApitypes(t *testing.T) {
	for seed := range uint64(testenv.Draws(t, 2000)) {
		text := drawn.TypedData(rand.New(rand.NewPCG(seed, 7)))
		want, err := apitypesDigest(text)
		if err != nil {
			t.Fatalf("seed %d: %s: apitypes: %v", seed, text, err)
		}
		got := parse(t, text).Digest()
		if hex.EncodeToString(got[:]) != hex.EncodeToString(want) {
			t.Fatalf("seed %d: %s\n got %x\nwant %x", seed, text, got, want)
		}
	}
}

func apitypesDigest(text string) ([]byte, error) {
	var data apitypes.TypedData
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		return nil, err
	}
	digest, _, err := apitypes.TypedDataAndHash(data)
	return digest, err
}

// FuzzParse checks that accepted text is hashed without a panic, and to the same digest
// as by apitypes if that accepts it, too.
func FuzzParse(f *testing.F) {
	f.Add([]byte(mail))
	for _, list := range [][]refusal{badValues, badTypes} {
		for _, test := range list {
			f.Add([]byte(test.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		data, err := eip712.Parse(text)
		if err != nil {
			return
		}
		data.UnusedTypes()
		got := data.Digest()
		if want, err := apitypesDigest(string(text)); err == nil && hex.EncodeToString(want) != hex.EncodeToString(got[:]) && !differs(data) {
			t.Errorf("%s\n got %x\nwant %x", text, got, want)
		}
	})
}

// differs reports whether a type has a name with a colon, at which apitypes cuts it.
func differs(data *eip712.TypedData) bool {
	return strings.Contains(data.EncodeType(data.PrimaryType), ":")
}
