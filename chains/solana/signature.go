package solana

import (
	"crypto/ed25519"
	"encoding/hex"
)

// checkSignatures verifies the signatures that other signers have put into their slots.
func (t *Transaction) checkSignatures() error {
	for i := range t.header.required {
		if t.filled(i) && !verifyStrict(t.key(i), t.Message(), t.signature(i)) {
			return malformed(item("signatures", i), t.signatureAt(i),
				"is not a valid signature of %s over this message: zero the slot, or have that signer sign again", encode58(t.key(i)))
		}
	}
	return nil
}

// verifyStrict verifies a signature as the network's nodes do (verify_strict of
// ed25519-dalek). It also refuses a public key or an R of small order: with these, one
// signature can be valid for many messages.
func verifyStrict(key, message, signature []byte) bool {
	return !smallOrder(key) && !smallOrder(signature[:32]) && ed25519.Verify(key, message, signature)
}

// smallOrder reports whether an encoded point has an order of at most 8. The sign bit
// is ignored.
func smallOrder(point []byte) bool {
	encoded := [32]byte(point)
	encoded[31] &= 0x7f
	for _, small := range smallOrderPoints {
		if encoded == small {
			return true
		}
	}
	return false
}

// smallOrderPoints are the little-endian y coordinates of the points of small order on
// edwards25519, including those that are not reduced modulo p.
var smallOrderPoints = [...][32]byte{
	point("0000000000000000000000000000000000000000000000000000000000000000"), // order 4
	point("0100000000000000000000000000000000000000000000000000000000000000"), // order 1
	point("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), // order 8
	point("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), // order 8
	point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // p−1, order 2
	point("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // p, order 4
	point("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // p+1, order 1
}

func point(digits string) (encoded [32]byte) {
	if n, err := hex.Decode(encoded[:], []byte(digits)); err != nil || n != len(encoded) {
		panic("solana: not a point: " + digits)
	}
	return encoded
}
