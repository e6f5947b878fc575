// Package tempomodel implements the rules of native Tempo transactions a second time,
// over go-ethereum's RLP decoder, so that tests, fuzz targets and benchmarks can
// compare the reader and signer of package tempo with it. It shares no code with them.
// Only tests import it.
//
// It stays beside ox, which interop/ runs, for two reasons:
//
//   - It found a defect before ox ran. Its first random transactions named recipients
//     in the scopes of an access key, seven lists deep; the reader had room for six and
//     panicked (commit 8051f4a4). The vectors of that time all passed. ox has no
//     generator: its random transactions come from here.
//   - ox is no oracle for refusals. Of the 169 encodings that chains/tempo must refuse
//     (refuse_test.go, refuseauthorization_test.go), ox 0.14.67 decodes 108, and writes
//     61 of them back unchanged: gas 0, 33 calls, a duplicate token, an admin key with
//     limits. The mutation tests and FuzzTempoParse check refusals against this package.
//
// interop/ compares the encodings and signatures of this package with those of ox.
//
// Source: the node's crates/primitives/src/transaction, and its transaction
// pool's bounds.
package tempomodel

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

// Type bytes.
const (
	typeTempo    = 0x76
	typeFeePayer = 0x78
)

// Transaction has the items of an unsigned transaction, in their order.
type Transaction struct {
	// For a fee payer to countersign: the sender's signature, and whether the
	// transaction has the form that the fee payer signs (0x78), with the sender's
	// address as FeePayer.
	Sender   []byte `rlp:"-"`
	ForPayer bool   `rlp:"-"`

	ChainID                 uint64
	Tip, Cap                *big.Int
	Gas                     uint64
	Calls                   []Call
	AccessList              types.AccessList
	NonceKey                *big.Int
	Nonce                   uint64
	ValidBefore, ValidAfter uint64
	FeeToken                []byte       // 20 bytes or none
	FeePayer                rlp.RawValue // 80, 00, or the PayerSignature
	Authorizations          []authorization
	Key                     []KeyAuthorization `rlp:"tail"` // one or none
}

// Call is one call; without To it creates a contract.
type Call struct {
	To    []byte
	Value *big.Int
	Input []byte
}

// PayerSignature is a fee payer's signature.
type PayerSignature struct {
	YParity uint8
	R, S    *big.Int
}

// authorization delegates an account to code.
type authorization struct {
	ChainID   *big.Int
	Address   common.Address
	Nonce     uint64
	Signature []byte
}

// KeyAuthorization gives a key access to the account.
type KeyAuthorization struct {
	Key       Key
	Signature []byte
}

// Key is what a key authorization's signature covers.
type Key struct {
	ChainID uint64
	Type    uint8
	ID      common.Address
	Expiry  uint64                 `rlp:"optional"`
	Limits  Option[[]Limit]        `rlp:"optional"`
	Scopes  Option[[]Scope]        `rlp:"optional"`
	Witness Option[common.Hash]    `rlp:"optional"`
	Admin   uint8                  `rlp:"optional"`
	Account Option[common.Address] `rlp:"optional"`
}

// Limit is what may be spent of a token, in total or in each period of seconds.
type Limit struct {
	Token  common.Address
	Amount *big.Int
	Period uint64 `rlp:"optional"`
}

// Scope is a target that may be called, and how.
type Scope struct {
	Target common.Address
	Rules  []rule
}

// rule is a function that may be called, with the recipients it may name.
type rule struct {
	Selector   [4]byte
	Recipients []common.Address
}
