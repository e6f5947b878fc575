package software

import (
	"bytes"
	"crypto/rand"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/countersign-dev/countersign/keystore"
)

// TestTweakPrivate holds the tweak against txscript's, with keys of either
// parity, without and with a merkle root.
func TestTweakPrivate(t *testing.T) {
	parities := map[byte]int{}
	for range 64 {
		secret := make([]byte, keystore.SecretSize)
		if err := Generate(keystore.CurveSecp256k1, secret); err != nil {
			t.Fatal(err)
		}
		key := mustNew(t, keystore.CurveSecp256k1, secret).Handle()
		var root [32]byte
		if _, err := rand.Read(root[:]); err != nil {
			t.Fatal(err)
		}
		private := secp256k1.PrivKeyFromBytes(secret)
		for _, tweak := range []keystore.TaprootTweak{keystore.KeyPath(), keystore.KeyPathWithRoot(root)} {
			want := txscript.TweakTaprootPrivKey(*private, tweak.MerkleRoot())
			if got := tweakPrivate(private, key.PublicKey(), tweak); !got.Key.Equals(&want.Key) {
				t.Errorf("key %v, root %x: another tweak than txscript's", key.PublicKey(), tweak.MerkleRoot())
			}
		}
		if !bytes.Equal(private.Serialize(), secret) {
			t.Error("the key itself was changed")
		}
		parities[key.PublicKey().Compressed()[0]]++
	}
	if len(parities) != 2 {
		t.Errorf("keys of one parity only: %v", parities)
	}
}
