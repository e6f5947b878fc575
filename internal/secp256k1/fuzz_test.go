package secp256k1

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// FuzzVerifySchnorr compares the verifications, and whether the key is on the curve,
// with btcec's, for any key, digest and signature.
func FuzzVerifySchnorr(f *testing.F) {
	secret, digest := draw(7)
	point, err := PublicKey(secret[:])
	testenv.Must(f, err)
	signature, err := SignSchnorr(digest, secret[:], [33]byte(append([]byte{2 + point[64]&1}, point[1:33]...)))
	testenv.Must(f, err)
	f.Add(point[1:33], digest[:], signature[:])
	f.Fuzz(func(t *testing.T, x, digest, signature []byte) {
		if len(x) != 32 || len(digest) != 32 || len(signature) != 64 {
			return
		}
		checkOnCurve(t, [32]byte(x))
		checkVerified(t, [32]byte(x), [32]byte(digest), [64]byte(signature))
	})
}

// FuzzSign compares signatures with those of the other libraries.
func FuzzSign(f *testing.F) {
	f.Add(make([]byte, 31), make([]byte, 32))
	f.Fuzz(func(t *testing.T, secret, digest []byte) {
		if len(secret) != 32 || len(digest) != 32 || !ValidSecret(secret) {
			return
		}
		checkSigned(t, [32]byte(secret), [32]byte(digest))
		checkLowR(t, [32]byte(secret), [32]byte(digest))
	})
}
