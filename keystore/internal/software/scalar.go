package software

import "github.com/decred/dcrd/dcrec/secp256k1/v4"

// validScalar reports whether the 32 bytes, big-endian, are between 1 and the
// group order of secp256k1, exclusive.
func validScalar(secret []byte) bool {
	var scalar secp256k1.ModNScalar
	defer scalar.Zero()
	overflow := scalar.SetByteSlice(secret)
	return !overflow && !scalar.IsZero()
}
