package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains/internal/rlp"
)

// authorizationMagic precedes what an authorization's signature covers (EIP-7702).
const authorizationMagic = 0x05

// AuthorizationHash returns the digest that is signed to delegate an account to code,
// given the encoded items chainId, address and nonce:
//
//	keccak256(05 ‖ rlp([chainId, address, nonce]))
func AuthorizationHash(items []byte) common.Hash {
	header := rlp.AppendListHeader([]byte{authorizationMagic}, len(items))
	return crypto.Keccak256Hash(header, items)
}
