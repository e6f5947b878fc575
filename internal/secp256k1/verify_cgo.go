//go:build cgo

package secp256k1

import (
	"github.com/ethereum/go-ethereum/crypto/secp256k1"
	voi "gitlab.com/yawning/secp256k1-voi"
)

// VerifySchnorr reports whether a BIP-340 signature of the digest verifies under
// the x-only public key.
//
// libsecp256k1 computes the point R = s·G − e·P. It is another implementation than the
// one that signs, and twice as fast. Its recovery of an ECDSA public key computes (s'·P
// − z·G) / x(P) for the point P with x(P) and an even y, which is R for s' = −e·x(P)
// and z = −s·x(P). A signature verifies if y(R) is even and x(R) is its first half.
func VerifySchnorr(x [32]byte, digest [32]byte, signature [64]byte) bool {
	s, err := voi.NewScalarFromCanonicalBytes((*[32]byte)(signature[32:]))
	if err != nil {
		return false
	}
	px, err := voi.NewScalarFromCanonicalBytes(&x)
	if err != nil { // x(P) ≥ n, which ECDSA has no room for: one key in 2¹²⁸
		return verifyWithoutRecovery(x, digest, signature)
	}
	z := s.Negate(s).Multiply(s, px)
	e := challenge(signature[:32], x, digest)
	e.Negate(e).Multiply(e, px)
	ecdsa := append(append(append(make([]byte, 0, 65), x[:]...), e.Bytes()...), 0) // r ‖ s ‖ v, of an even y
	point, err := secp256k1.RecoverPubkey(z.Bytes(), ecdsa)
	return err == nil && point[64]&1 == 0 && [32]byte(point[1:33]) == [32]byte(signature[:32])
}
