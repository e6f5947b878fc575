package keystore

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// TaprootTweak determines the key under which a BIP-340 signature verifies (BIP-341). The zero
// TaprootTweak is ScriptPath.
type TaprootTweak struct {
	keyPath bool
	hasRoot bool
	root    [32]byte
}

// ScriptPath returns the tweak for signatures under the key itself, as in a tapscript leaf.
func ScriptPath() TaprootTweak { return TaprootTweak{} }

// KeyPath returns the tweak for signatures under the output key without a script tree (BIP-86).
func KeyPath() TaprootTweak { return TaprootTweak{keyPath: true} }

// KeyPathWithRoot returns the tweak for signatures under the output key that commits to a script
// tree with this merkle root.
func KeyPathWithRoot(root [32]byte) TaprootTweak {
	return TaprootTweak{keyPath: true, hasRoot: true, root: root}
}

// IsKeyPath reports whether the key is tweaked at all.
func (t TaprootTweak) IsKeyPath() bool { return t.keyPath }

// MerkleRoot returns the 32-byte merkle root that the tweak commits to, empty if there is none.
func (t TaprootTweak) MerkleRoot() []byte {
	if !t.hasRoot {
		return []byte{}
	}
	return t.root[:]
}

// OutputKey returns the x-only key under which signatures with this tweak verify.
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
