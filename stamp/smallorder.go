package stamp

import (
	"encoding/hex"
	"slices"
)

// smallOrderPoints are the encodings, canonical and non-canonical, of the points of Ed25519
// whose order divides 8, without the sign bit. Under such a public key, signatures can be
// made without a secret.
var smallOrderPoints = []string{
	"0000000000000000000000000000000000000000000000000000000000000000", // y = 0, order 4
	"0100000000000000000000000000000000000000000000000000000000000000", // y = 1, the identity
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // order 8
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // y = −1, order 2
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // y = p, that is 0
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // y = p + 1, that is 1
}

func smallOrder(publicKey []byte) bool {
	unsigned := slices.Clone(publicKey)
	unsigned[31] &= 0x7f
	return slices.Contains(smallOrderPoints, hex.EncodeToString(unsigned))
}
