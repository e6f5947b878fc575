package keystore

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// TaprootTweak says under which key a BIP-340 signature is made (BIP-341). The
// zero TaprootTweak is ScriptPath.
type TaprootTweak struct {
	keyPath bool
	hasRoot bool
	root    [32]byte
}

// ScriptPath signs under the key itself, as it stands in a tapscript leaf.
func ScriptPath() TaprootTweak { return TaprootTweak{} }

// KeyPath signs under the output key of the key with no script tree (BIP-86).
func KeyPath() TaprootTweak { return TaprootTweak{keyPath: true} }

// KeyPathWithRoot signs under the output key that commits to a script tree by
// its merkle root.
func KeyPathWithRoot(root [32]byte) TaprootTweak {
	return TaprootTweak{keyPath: true, hasRoot: true, root: root}
}

// IsKeyPath reports whether the key is tweaked at all.
func (t TaprootTweak) IsKeyPath() bool { return t.keyPath }

// MerkleRoot returns what the tweak commits to: 32 bytes, or none.
func (t TaprootTweak) MerkleRoot() []byte {
	if !t.hasRoot {
		return []byte{}
	}
	return t.root[:]
}

// OutputKey returns the x-only key that signatures with this tweak verify
// under.
func (t TaprootTweak) OutputKey(pub PublicKey) (x [32]byte, err error) {
	if pub.Curve() != CurveSecp256k1 {
		return x, fmt.Errorf("taproot output key: %v is not secp256k1", pub.Curve())
	}
	if !t.keyPath {
		return pub.XOnly(), nil
	}
	output, err := secp256k1.OutputKey(pub.XOnly(), t.MerkleRoot())
	if err != nil {
		return x, fmt.Errorf("taproot output key: %w", err)
	}
	return output.X, nil
}
