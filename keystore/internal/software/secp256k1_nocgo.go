//go:build !cgo

package software

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// Without cgo the secret goes to decred's secp256k1, whose scalars can be wiped.

func signECDSA(digest [32]byte, secret []byte) (signature [65]byte, err error) {
	private := secp256k1.PrivKeyFromBytes(secret)
	defer private.Zero()
	compact := ecdsa.SignCompact(private, digest[:], false) // 27+v ‖ r ‖ s
	copy(signature[:], compact[1:])
	signature[64] = compact[0] - 27
	return signature, nil
}

func derivePoint(secret []byte) ([]byte, error) {
	private := secp256k1.PrivKeyFromBytes(secret)
	defer private.Zero()
	return private.PubKey().SerializeUncompressed(), nil
}
