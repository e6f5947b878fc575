//go:build !cgo

package secp256k1

// VerifySchnorr reports whether a BIP-340 signature of the digest verifies under
// the x-only public key.
func VerifySchnorr(x [32]byte, digest [32]byte, signature [64]byte) bool {
	return verifyWithoutRecovery(x, digest, signature)
}
