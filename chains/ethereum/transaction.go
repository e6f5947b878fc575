package ethereum

import (
	"fmt"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// Transaction types (EIP-2718). Legacy transactions have no type byte in their
// encoding; JSON-RPC calls them 0.
const (
	typeLegacy     = 0
	typeAccessList = 1
	typeDynamicFee = 2
	typeBlob       = 3
	typeSetCode    = 4
)

// transaction is a view over the raw bytes, and what was read from them.
type transaction struct {
	evm.Base
	limits Limits
	raw    []byte

	// items is the span of the transaction's items without those of a signature. They
	// are what is signed, after a header.
	items rlp.Span

	// whole reports that the raw bytes are the preimage: nothing had to be removed (the
	// alias's three items) or extracted (from the network form).
	whole bool

	// sidecar is the span after the body in the network form of a blob transaction,
	// empty otherwise.
	sidecar rlp.Span

	// sidecarV0 reports that the sidecar has one proof per blob (wrapper version 0).
	sidecarV0 bool

	kind       byte
	chainID    uint64 // 0: legacy without chain id
	nonce      uint64
	gas        uint64
	tipCap     rlp.Span // maxPriorityFeePerGas; gasPrice where there is one price
	feeCap     rlp.Span // maxFeePerGas; gasPrice where there is one price
	to         evm.Address
	creation   bool
	value      rlp.Span
	data       rlp.Span
	accessList evm.AccessList

	blobFeeCap rlp.Span // maxFeePerBlobGas
	blobHashes rlp.Span // items of blobVersionedHashes
	blobs      uint64   // how many

	authorizations authorizations
}

var _ chains.Transaction = (*transaction)(nil)

// parse reads the raw bytes, by the first of them (EIP-2718).
func (tx *transaction) parse() error {
	if len(tx.raw) == 0 {
		return malformed("", 0, "empty: expected the raw unsigned transaction")
	}
	if err := tx.parseByType(); err != nil {
		return err
	}
	if tx.kind == typeBlob && isTempo(tx.chainID) {
		return unsupported(fmt.Sprintf("chain %d is Tempo, which does not accept transactions of type 3", tx.chainID))
	}
	tx.Base = evm.Base{Chain: Name, Network: evm.NetworkOfChain(tx.chainID), Acts: tx}
	return nil
}

func isTempo(chainID uint64) bool { return evm.TempoName(chainID) != "" }

func (tx *transaction) parseByType() error {
	switch first := tx.raw[0]; {
	case first >= 0xc0:
		return tx.parseLegacy()
	case first >= 0x80:
		return malformed("", 0, "an RLP string where a list or a transaction type should be")
	case first >= typeAccessList && first <= typeSetCode:
		tx.kind = first
		return tx.parseTyped()
	case first == typeLegacy:
		return unsupported("type 0x00 is not written: a legacy transaction starts with its list")
	case first == 0x76:
		return unsupported("type 0x76 is a Tempo transaction: use TRANSACTION_TYPE_TEMPO")
	default:
		return unsupported(fmt.Sprintf("type 0x%02x is unknown: legacy and types 1 to 4 are supported", first))
	}
}

// maximumFee returns the most that the transaction may cost in addition to its value,
// in wei. ok is false if that is over 256 bits.
func (tx *transaction) maximumFee() (fee uint256.Int, ok bool) {
	price := tx.feeCap.Uint256(tx.raw)
	_, overflow := fee.MulOverflow(uint256.NewInt(tx.gas), &price)
	if tx.blobs == 0 || overflow {
		return fee, !overflow
	}
	blobFee := tx.blobFeeCap.Uint256(tx.raw)
	if _, overflow = blobFee.MulOverflow(uint256.NewInt(tx.blobs*blobGas), &blobFee); overflow {
		return fee, false
	}
	_, overflow = fee.AddOverflow(&fee, &blobFee)
	return fee, !overflow
}

// payable reports whether a balance of 256 bits can pay for what has been read so far.
func (tx *transaction) payable() bool {
	if tx.blobs == 0 && tx.feeCap.Len() <= 8 && tx.value.Len() < 32 {
		return true // gas·price has 128 bits at most, the value 248
	}
	fee, ok := tx.maximumFee()
	if !ok {
		return false
	}
	value := tx.value.Uint256(tx.raw)
	_, overflow := fee.AddOverflow(&fee, &value)
	return !overflow
}

func malformed(field string, offset int, problem string) error {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset, Problem: problem}
}

func unsupported(problem string) error {
	return &chains.ParseError{Kind: chains.ErrUnsupported, Chain: Name, Field: "type", Offset: 0, Problem: problem}
}

// UsesUp implements chains.Exclusive: one transaction of an account has a nonce.
func (tx *transaction) UsesUp(signer string) []string {
	return []string{fmt.Sprintf("nonce %d of %s on chain %d", tx.nonce, signer, tx.chainID)}
}
