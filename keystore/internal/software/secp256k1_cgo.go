//go:build cgo

package software

import (
	"github.com/ethereum/go-ethereum/crypto/secp256k1"
)

// With cgo the secret goes to libsecp256k1 as bytes, in constant time.

func signECDSA(digest [32]byte, secret []byte) (signature [65]byte, err error) {
	made, err := secp256k1.Sign(digest[:], secret)
	if err != nil {
		return signature, err
	}
	return [65]byte(made), nil
}

func derivePoint(secret []byte) ([]byte, error) {
	x, y := secp256k1.S256().ScalarBaseMult(secret)
	if x == nil {
		return nil, errScalar
	}
	return secp256k1.S256().Marshal(x, y), nil
}
