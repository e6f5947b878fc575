package secp256k1

import (
	"encoding/binary"

	voi "gitlab.com/yawning/secp256k1-voi"
)

// SignECDSA signs a digest with the nonce of RFC 6979 (HMAC-SHA-256, no additional data). It
// returns r ‖ s ‖ v, big-endian; s is at most half the group order, and v is the recovery id.
func SignECDSA(digest [32]byte, secret []byte) (signature [65]byte, err error) {
	return signECDSA(&digest, (*[32]byte)(secret), nil)
}

// SignLowR is SignECDSA with an r below 2²⁵⁵, which takes a byte less in DER. It makes the
// signatures of Bitcoin Core (CKey::Sign): while r is higher, it signs again, with a counter as the
// nonce's additional data (32 bytes, little-endian, from 1). It takes two signatures on average.
func SignLowR(digest [32]byte, secret []byte) (signature [65]byte, err error) {
	signature, err = SignECDSA(digest, secret)
	var additional [32]byte
	for counter := uint32(1); err == nil && signature[0] >= 0x80; counter++ {
		binary.LittleEndian.PutUint32(additional[:], counter)
		signature, err = signECDSA(&digest, (*[32]byte)(secret), additional[:])
	}
	return signature, err
}

func signECDSA(digest, secret *[32]byte, additional []byte) (signature [65]byte, err error) {
	var candidates nonces
	defer candidates.wipe()
	candidates.start(secret, digest, additional)
	return signWithFirst(&candidates, digest, secret)
}

// signWithFirst signs with the first candidate that gives a signature. All but one in 2¹²⁷ do.
func signWithFirst(candidates *nonces, digest, secret *[32]byte) ([65]byte, error) {
	for {
		if signature, ok := signWithNonce(digest, secret, &candidates.v); ok {
			return signature, nil
		}
		if !ValidSecret(secret[:]) {
			return [65]byte{}, errSecret
		}
		candidates.reject()
	}
}

// signWithVoi makes a signature with a nonce. It reports false if the secret or the nonce
// is not between 1 and the group order, or if the nonce gives r = 0 or s = 0. It
// implements SEC 1, section 4.1.3:
//
//	R = k·G    r = x(R) mod n    s = k⁻¹·(z + r·d) mod n, or n − s if that is lower
//	v = parity of y(R), flipped with s  +  2 if x(R) ≥ n
func signWithVoi(digest, secret, nonce *[32]byte) (signature [65]byte, ok bool) {
	private, err := readSecret(secret[:])
	if err != nil {
		return signature, false
	}
	defer private.Zero()
	k, err := readSecret(nonce[:])
	if err != nil {
		return signature, false
	}
	defer k.Zero()
	point := multiplyBase(k)
	r, overflow := voi.NewScalarFromBytes((*[32]byte)(point[1:]))
	s, inverse := voi.NewScalar().Multiply(r, private), voi.NewScalar().Invert(k)
	defer inverse.Zero()
	s.Add(s, reduced(digest)).Multiply(s, inverse)
	if r.IsZero() != 0 || s.IsZero() != 0 {
		return signature, false
	}
	high := s.IsGreaterThanHalfN()
	s.ConditionalNegate(s, high)
	copy(signature[:32], r.Bytes())
	copy(signature[32:], s.Bytes())
	signature[64] = byte(high) ^ point[64]&1 | byte(overflow<<1)
	return signature, true
}
