package tempo

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// Type bytes (EIP-2718).
const (
	typeTempo    = 0x76
	typeFeePayer = 0x78 // what a fee payer signs
)

// The network's bounds.
const (
	maxCalls              = 32
	maxAuthorizations     = 16
	maxAccessListEntries  = 256
	maxAccessListKeysEach = 256
	maxAccessListKeys     = 2048
	maxCallInput          = 128 << 10 // bytes
)

// itemsPlain is the number of items without a key authorization and a signature.
const itemsPlain = 13

// transaction is a view over the raw bytes, and what was read from them.
type transaction struct {
	evm.Base
	limits Limits
	raw    []byte
	items  rlp.Span // all items

	// The two adjacent items that a sponsored sender signs as 80 00, headers included.
	feeTokenItem, feePayerItem rlp.Span

	chainID              uint64
	maxPriorityFeePerGas rlp.Span // 128 bits at most
	maxFeePerGas         rlp.Span // 128 bits at most
	gas                  uint64
	calls                calls
	accessList           evm.AccessList
	nonceKey             rlp.Span
	nonce                uint64
	validBefore          uint64 // seconds since the epoch, exclusive; 0: no bound
	validAfter           uint64 // seconds since the epoch; 0: no bound
	feeToken             evm.Address
	hasFeeToken          bool
	feePayer             feePayer
	authorizations       []authorization
	key                  *keyAuthorization // nil if there is none
	sender               *sender           // nil if the sender has not signed yet
}

var _ chains.Transaction = (*transaction)(nil)

func (tx *transaction) parse() error {
	switch {
	case len(tx.raw) == 0:
		return malformed("", 0, "empty: expected the raw unsigned transaction")
	case tx.raw[0] == typeTempo || tx.raw[0] == typeFeePayer:
	case tx.raw[0] <= 4 || tx.raw[0] >= 0xc0:
		return unsupported("a native Tempo transaction has type 0x76: use TRANSACTION_TYPE_ETHEREUM for this one")
	default:
		return unsupported(fmt.Sprintf("type 0x%02x is unknown: a native Tempo transaction has type 0x76", tx.raw[0]))
	}
	f := rlp.Open(Name, tx.raw, 1)
	tx.items = f.Rest()
	if err := tx.readItems(f); err != nil {
		// Any fault may be a consequence of a wrong number of items.
		if count := f.Count(); count >= 0 && (count < itemsPlain || count > itemsPlain+2) {
			f.Fail("", f.At(), "%d items: an unsigned transaction has 13, one more with a key authorization, and one "+
				"more with the sender's signature", count)
			return f.Err()
		}
		return err
	}
	network := &evm.Network{ID: evm.NetworkID(tx.chainID), ChainID: tx.chainID, Symbol: "native", Decimals: 18}
	tx.Base = evm.Base{Chain: Name, Network: network, Acts: tx}
	return tx.checkSigned()
}

func (tx *transaction) readItems(f rlp.Fields) error {
	tx.readFees(&f)
	tx.readCalls(&f)
	tx.readAccessList(&f)
	tx.readNonce(&f)
	tx.readWindow(&f)
	tx.readPayment(&f)
	tx.readAuthorizations(&f)
	if f.NextIsList() {
		tx.readKeyAuthorization(&f)
	}
	if f.More() {
		start := f.At()
		tx.sender = &sender{signature: readEnvelope(&f, "signature", tx.raw, true)}
		tx.sender.item = rlp.Between(start, f.At())
	}
	return f.Close()
}

func (tx *transaction) readFees(f *rlp.Fields) {
	offset := f.At()
	if tx.chainID = f.Uint64("chainId"); tx.chainID == 0 {
		f.Fail("chainId", offset, "is 0: a transaction names its chain")
	}
	tx.maxPriorityFeePerGas = tx.readUint128(f, "maxPriorityFeePerGas")
	offset = f.At()
	tx.maxFeePerGas = tx.readUint128(f, "maxFeePerGas")
	if rlp.Less(tx.maxFeePerGas.Of(tx.raw), tx.maxPriorityFeePerGas.Of(tx.raw)) {
		f.Fail("maxFeePerGas", offset, "is below maxPriorityFeePerGas")
	}
	offset = f.At()
	if tx.gas = f.Uint64("gas"); tx.gas == 0 {
		f.Fail("gas", offset, "is 0: every transaction costs gas")
	}
}

func (tx *transaction) readUint128(f *rlp.Fields, name string) rlp.Span {
	offset := f.At()
	value := f.Uint256(name)
	if value.Len() > 128/8 {
		f.Fail(name, offset, "integer of %d bits is over 128", value.Big(tx.raw).BitLen())
	}
	return value
}

func (tx *transaction) readAccessList(f *rlp.Fields) {
	offset := f.At()
	tx.accessList = evm.ReadAccessList(f, "accessList")
	switch {
	case tx.accessList.Addresses > maxAccessListEntries:
		f.Fail("accessList", offset, "%d addresses: %d at most", tx.accessList.Addresses, maxAccessListEntries)
	case tx.accessList.MostKeys > maxAccessListKeysEach:
		f.Fail("accessList", offset, "%d storage keys of one address: %d at most", tx.accessList.MostKeys,
			maxAccessListKeysEach)
	case tx.accessList.StorageKeys > maxAccessListKeys:
		f.Fail("accessList", offset, "%d storage keys in all: %d at most", tx.accessList.StorageKeys, maxAccessListKeys)
	}
}

func (tx *transaction) readNonce(f *rlp.Fields) {
	tx.nonceKey = f.Uint256("nonceKey")
	offset := f.At()
	tx.nonce = f.Uint64("nonce")
	if tx.nonce == math.MaxUint64 && !tx.expiring() {
		f.Fail("nonce", offset, "is 2^64−1, which no account can use (EIP-2681)")
	}
}

func (tx *transaction) readWindow(f *rlp.Fields) {
	offset := f.At()
	if tx.validBefore = f.Uint64("validBefore"); tx.expiring() && tx.validBefore == 0 {
		f.Fail("validBefore", offset, "is missing: with nonce key 2^256−1 (expiring nonces, TIP-1009) it is required")
	}
	offset = f.At()
	if tx.validAfter = f.Uint64("validAfter"); tx.validBefore != 0 && tx.validBefore <= tx.validAfter {
		f.Fail("validAfter", offset, "%d is not before validBefore %d: the transaction is never valid", tx.validAfter,
			tx.validBefore)
	}
}

// expiringNonceKey is 2^256−1.
const expiringNonceKey = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

// expiring reports whether the nonce key is that of expiring nonces (TIP-1009). Since
// T12 (TIP-1106) any nonce is valid with it: it only distinguishes payments.
func (tx *transaction) expiring() bool {
	return string(tx.nonceKey.Of(tx.raw)) == expiringNonceKey
}

func (tx *transaction) readPayment(f *rlp.Fields) {
	start := f.At()
	tx.feeToken, tx.hasFeeToken = f.OptionalAddress("feeToken")
	tx.feeTokenItem = rlp.Between(start, f.At())
	tx.readFeePayer(f)
	tx.feePayerItem = rlp.Between(int(tx.feeTokenItem.End), f.At())
}

func malformed(field string, offset int, problem string) error {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset, Problem: problem}
}

func unsupported(problem string) error {
	return &chains.ParseError{Kind: chains.ErrUnsupported, Chain: Name, Field: "type", Offset: 0, Problem: problem}
}

// UsesUp implements chains.Exclusive: one transaction of an account has a nonce with its key. What
// uses up an expiring nonce is the transaction itself.
func (tx *transaction) UsesUp(signer string) []string {
	if tx.sender != nil {
		signer = hex.EncodeToString(tx.sender.address[:])
	}
	used := fmt.Sprintf("nonce %x/%d of %s on chain %d", tx.nonceKey.Of(tx.raw), tx.nonce, signer, tx.chainID)
	if tx.expiring() {
		used = fmt.Sprintf("%s, of %x", used, tx.items.Of(tx.raw))
	}
	return []string{used}
}
