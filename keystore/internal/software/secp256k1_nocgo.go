//go:build !cgo

package software

import "github.com/countersign-dev/countersign/internal/secp256k1"

// Without cgo, secp256k1-voi computes signatures in constant time.

func signECDSA(digest [32]byte, secret []byte) ([65]byte, error) {
	return secp256k1.SignECDSA(digest, secret)
}
