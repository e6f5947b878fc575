package tempo_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/tempomodel"
	"github.com/countersign-dev/countersign/keystore"
)

// TestGenerated compares the signed bytes of random transactions of every kind with the
// model's.
func TestGenerated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for number := range 1200 {
		c := tempomodel.Generate(random, number)
		key := keyOf(t, hex.EncodeToString(crypto.FromECDSA(c.Key)))
		if signed := signRaw(t, c.Unsigned, key); !bytes.Equal(signed, c.Signed) {
			t.Fatalf("%x\n got %x\nwant %x", c.Unsigned, signed, c.Signed)
		}
	}
}

// signRaw parses and signs.
func signRaw(t testing.TB, raw []byte, key keystore.Key) []byte {
	t.Helper()
	before := bytes.Clone(raw)
	signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, raw, "", key)
	if err != nil {
		t.Fatalf("%x: %v", raw, err)
	}
	if !bytes.Equal(raw, before) {
		t.Fatalf("%x: the input was written to: %x", before, raw)
	}
	return signed
}

// fixedKey signs everything with r = s = 1, and records the digest.
type fixedKey struct {
	keystore.Key
	digest [32]byte
}

func (k *fixedKey) SignECDSA(_ context.Context, digest [32]byte) (signature [65]byte, err error) {
	k.digest = digest
	signature[31], signature[63] = 1, 1
	return signature, nil
}

// fixedSignature is fixedKey's signature in a transaction.
var fixedSignature = append(append(append(make([]byte, 31), 1), append(make([]byte, 31), 1)...), 27)

func newFixedKey(t testing.TB) *fixedKey {
	return &fixedKey{Key: keyOf(t, strings.Repeat("01", 32))}
}
