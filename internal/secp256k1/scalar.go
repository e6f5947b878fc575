package secp256k1

import (
	"errors"

	voi "gitlab.com/yawning/secp256k1-voi"
)

var errSecret = errors.New("secp256k1 secret: not between 1 and the group order")

// ValidSecret reports whether a secret of 32 bytes, big-endian, is between 1 and the
// group order, exclusive. It panics for any other length.
func ValidSecret(secret []byte) bool {
	scalar, err := readSecret(secret)
	if err != nil {
		return false
	}
	scalar.Zero()
	return true
}

// PublicKey returns the secret's public key, uncompressed: 04 ‖ x ‖ y (SEC 1).
func PublicKey(secret []byte) (point [65]byte, err error) {
	scalar, err := readSecret(secret)
	if err != nil {
		return point, err
	}
	defer scalar.Zero()
	return multiplyBase(scalar), nil
}

// readSecret returns the scalar of a secret. The caller must zero it.
func readSecret(secret []byte) (*voi.Scalar, error) {
	scalar, err := voi.NewScalarFromCanonicalBytes((*[32]byte)(secret))
	if err != nil || scalar.IsZero() != 0 {
		return nil, errSecret
	}
	return scalar, nil
}

// reduced returns 32 bytes, big-endian, as a scalar modulo the group order.
func reduced(encoded *[32]byte) *voi.Scalar {
	scalar, _ := voi.NewScalarFromBytes(encoded)
	return scalar
}
