//go:build cgo

package software

import "github.com/ethereum/go-ethereum/crypto/secp256k1"

// With cgo, libsecp256k1 gets the secret as bytes and works in constant time.

func signECDSA(digest [32]byte, secret []byte) ([65]byte, error) {
	signature, err := secp256k1.Sign(digest[:], secret)
	if err != nil {
		return [65]byte{}, err
	}
	return [65]byte(signature), nil
}
