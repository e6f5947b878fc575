// Package edwards25519 knows the points of small order of the curve of Ed25519.
package edwards25519

import "encoding/hex"

// smallOrder are the little-endian y coordinates of the points whose order divides 8,
// including those that are not reduced modulo p.
var smallOrder = [...][32]byte{
	point("0000000000000000000000000000000000000000000000000000000000000000"), // y = 0, order 4
	point("0100000000000000000000000000000000000000000000000000000000000000"), // y = 1, order 1
	point("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), // order 8
	point("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), // order 8
	point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // y = p − 1, order 2
	point("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // y = p, that is 0
	point("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), // y = p + 1, that is 1
}

func point(digits string) (encoded [32]byte) {
	if n, err := hex.Decode(encoded[:], []byte(digits)); err != nil || n != len(encoded) {
		panic("edwards25519: not a point: " + digits)
	}
	return encoded
}

// SmallOrder reports whether the 32 bytes of an encoded point have an order of at most
// 8, whatever their sign bit. Under such a public key, a signature can be made without a
// secret, and can be valid for many messages.
func SmallOrder(encoded []byte) bool {
	y := [32]byte(encoded)
	y[31] &= 0x7f
	for i := range smallOrder {
		if y == smallOrder[i] {
			return true
		}
	}
	return false
}
