package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
)

// halfOrder is (n−1)/2 of secp256k1: the largest s that the network takes
// (EIP-2).
var halfOrder = uint256.MustFromHex("0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0")

// Recover returns the address whose key made a signature over the digest, and
// whether there is one. It takes what the network takes: yParity 0 or 1, r and s
// within the group order, s low.
func Recover(digest common.Hash, yParity uint8, r, s uint256.Int) (signer Address, ok bool) {
	if yParity > 1 || s.Gt(halfOrder) {
		return signer, false
	}
	var signature [65]byte
	r.WriteToSlice(signature[:32])
	s.WriteToSlice(signature[32:64])
	signature[64] = yParity
	point, err := crypto.Ecrecover(digest[:], signature[:])
	if err != nil {
		return signer, false
	}
	hash := crypto.Keccak256(point[1:])
	copy(signer[:], hash[12:])
	return signer, true
}
