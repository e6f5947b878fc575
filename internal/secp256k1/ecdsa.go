package secp256k1

import (
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	voi "gitlab.com/yawning/secp256k1-voi"
)

// signECDSA is [SignECDSA] without libsecp256k1.
func signECDSA(digest [32]byte, secret []byte) (signature [65]byte, err error) {
	private, err := readSecret(secret)
	if err != nil {
		return signature, err
	}
	defer private.Zero()
	nonce := rfc6979(digest, secret)
	defer nonce.Zero()
	return signWithNonce(reduced(&digest), private, nonce)
}

// rfc6979 derives the nonce with decred's HMAC generator. It never needs RFC 6979's
// next candidate, which is for a nonce that gives r = 0 or s = 0: no known input does,
// and [signWithNonce] returns an error for it.
func rfc6979(digest [32]byte, secret []byte) *voi.Scalar {
	nonce := secp256k1.NonceRFC6979(secret, digest[:], nil, nil, 0)
	defer nonce.Zero()
	encoded := nonce.Bytes()
	defer clear(encoded[:])
	return reduced(&encoded)
}

// signWithNonce implements SEC 1, section 4.1.3:
//
//	R = k·G    r = x(R) mod n    s = k⁻¹·(z + r·d) mod n, or n − s if that is lower
//	v = parity of y(R), flipped with s  +  2 if x(R) ≥ n
func signWithNonce(z, private, nonce *voi.Scalar) (signature [65]byte, err error) {
	point := multiplyBase(nonce)
	r, overflow := voi.NewScalarFromBytes((*[32]byte)(point[1:]))
	s, inverse := voi.NewScalar().Multiply(r, private), voi.NewScalar().Invert(nonce)
	defer inverse.Zero()
	s.Add(s, z).Multiply(s, inverse)
	if r.IsZero() != 0 || s.IsZero() != 0 {
		return signature, errors.New("secp256k1: the nonce of this digest gives no signature")
	}
	high := s.IsGreaterThanHalfN()
	s.ConditionalNegate(s, high)
	copy(signature[:32], r.Bytes())
	copy(signature[32:], s.Bytes())
	signature[64] = byte(high) ^ point[64]&1 | byte(overflow<<1)
	return signature, nil
}
