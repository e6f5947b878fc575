//go:build !cgo

package secp256k1

import voi "gitlab.com/yawning/secp256k1-voi"

// multiplyBase returns scalar·G, uncompressed, in constant time. The scalar must not be zero.
func multiplyBase(scalar *voi.Scalar) [65]byte {
	return [65]byte(voi.NewIdentityPoint().ScalarBaseMult(scalar).UncompressedBytes())
}

// signWithNonce is [signWithVoi].
func signWithNonce(digest, secret, nonce *[32]byte) (signature [65]byte, ok bool) {
	return signWithVoi(digest, secret, nonce)
}

// OnCurve reports whether an x-only public key is the x of a point (BIP-340's lift_x).
func OnCurve(x [32]byte) bool {
	_, err := liftX(x)
	return err == nil
}

// VerifySchnorr reports whether a BIP-340 signature of the digest verifies under
// the x-only public key.
func VerifySchnorr(x [32]byte, digest [32]byte, signature [64]byte) bool {
	return verifyWithoutRecovery(x, digest, signature)
}
