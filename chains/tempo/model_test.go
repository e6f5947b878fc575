package tempo_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// TestGenerated compares the signed bytes of random transactions of every kind with the
// model's.
func TestGenerated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for number := range 1200 {
		c := tempomodel.Generate(random, number)
		key := evmtest.Key(t, hex.EncodeToString(crypto.FromECDSA(c.Key)))
		if signed := evmtest.SignRaw(t, tempo.Chain{}, c.Unsigned, key); !bytes.Equal(signed, c.Signed) {
			t.Fatalf("%x\n got %x\nwant %x", c.Unsigned, signed, c.Signed)
		}
	}
}

// fixedSignature is evmtest.FixedKey's signature in a transaction.
var fixedSignature = append(append(append(make([]byte, 31), 1), append(make([]byte, 31), 1)...), 27)
