package tempomodel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

// TestGenerate checks that the transactions which other tests start from are accepted,
// and that their signed bytes decode to them.
func TestGenerate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for kind, name := range Kinds {
		for range 100 {
			c := Generate(random, kind)
			if err := Refuses(c.Unsigned); err != nil {
				t.Fatalf("%s: %x: %v", name, c.Unsigned, err)
			}
			sender, unsigned, err := Open(c.Signed)
			if want := crypto.PubkeyToAddress(c.Key.PublicKey); err != nil || sender != want || !bytes.Equal(unsigned, c.Unsigned) {
				t.Fatalf("%s: %x: sender %v (%v), want %v", name, c.Signed, sender, err, want)
			}
		}
	}
}
