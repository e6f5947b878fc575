//go:build !cgo

package secp256k1

import voi "gitlab.com/yawning/secp256k1-voi"

// multiplyBase returns scalar·G, uncompressed, in constant time. The scalar must not be
// zero.
func multiplyBase(scalar *voi.Scalar) [65]byte {
	return [65]byte(voi.NewIdentityPoint().ScalarBaseMult(scalar).UncompressedBytes())
}
