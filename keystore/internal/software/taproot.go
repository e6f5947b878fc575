package software

import (
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/countersign-dev/countersign/keystore"
)

// tweakPrivate returns the private key of the output key (BIP-341):
//
//	d, or n − d if the key's y is odd  +  SHA-256 tagged "TapTweak" of x ‖ merkle root
//
// txscript.TweakTaprootPrivKey does the same, but multiplies a point to learn x
// and the parity of y, which the handle knows: a third of the cost of signing.
func tweakPrivate(private *secp256k1.PrivateKey, pub keystore.PublicKey, tweak keystore.TaprootTweak) *secp256k1.PrivateKey {
	compressed := pub.Compressed()
	hash := chainhash.TaggedHash(chainhash.TagTapTweak, compressed[1:], tweak.MerkleRoot())
	var addend secp256k1.ModNScalar
	addend.SetBytes((*[32]byte)(hash))
	tweaked := secp256k1.NewPrivateKey(&private.Key)
	if compressed[0] == secp256k1.PubKeyFormatCompressedOdd {
		tweaked.Key.Negate()
	}
	tweaked.Key.Add(&addend)
	return tweaked
}
