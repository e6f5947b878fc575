package evm

import (
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/rlp"
)

// halfOrder is (n−1)/2 of secp256k1: the largest s that the network accepts (EIP-2).
var halfOrder = uint256.MustFromHex("0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0")

// order is n of secp256k1.
var order = uint256.MustFromHex("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")

// ValidScalar reports whether r of a signature is between 1 and n−1.
func ValidScalar(r *uint256.Int) bool { return !r.IsZero() && r.Lt(order) }

// LowScalar reports whether s of a signature is between 1 and (n−1)/2.
func LowScalar(s *uint256.Int) bool { return !s.IsZero() && !s.Gt(halfOrder) }

// recoveries counts what Recover has spent on the curve.
var recoveries atomic.Int64

// Recoveries returns how many keys this process has recovered, each some 70 µs of a CPU: what
// tests hold a refused request to.
func Recoveries() int64 { return recoveries.Load() }

// Recover returns the address whose key made a signature over the digest. ok is false if there is
// none. Like the network, it requires yParity 0 or 1, r and s within the group order, and a low s.
func Recover(digest common.Hash, yParity uint8, r, s uint256.Int) (signer Address, ok bool) {
	if yParity > 1 || !LowScalar(&s) {
		return signer, false
	}
	recoveries.Add(1)
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

// authorizationMagic precedes what an authorization's signature covers (EIP-7702).
const authorizationMagic = 0x05

// authorizationHash returns the digest that is signed to delegate an account to code,
// given the encoded items chainId, address and nonce:
//
//	keccak256(05 ‖ rlp([chainId, address, nonce]))
func authorizationHash(items []byte) common.Hash {
	header := rlp.AppendListHeader([]byte{authorizationMagic}, len(items))
	return crypto.Keccak256Hash(header, items)
}
