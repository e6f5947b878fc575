package ethereum

import (
	"math"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// itemCount is the number of items of a typed transaction without signature.
var itemCount = [...]int{typeAccessList: 8, typeDynamicFee: 9, typeBlob: 11, typeSetCode: 10}

// signatureItems is the number of items that a signature adds: yParity, r, s.
const signatureItems = 3

func (tx *transaction) parseTyped() error {
	f := rlp.Open(Name, tx.raw, 1)
	if tx.kind == typeBlob && f.NextIsList() {
		return tx.parseNetworkForm(&f)
	}
	tx.whole = true
	tx.readBody(&f)
	return f.Close()
}

// readBody reads the items of a typed transaction, which are all of f.
func (tx *transaction) readBody(f *rlp.Fields) {
	start := *f
	if tx.readItems(f); f.Close() == nil {
		return
	}
	// Any other fault may be a consequence of a wrong number of items.
	count, want := start.Count(), itemCount[tx.kind]
	if count >= 0 && count != want && count != want+signatureItems {
		*f = start
		f.Fail("", f.At(), "%d items: a transaction of type %d has %d before it is signed", count, tx.kind, want)
	}
}

func (tx *transaction) readItems(f *rlp.Fields) {
	start := f.At()
	offset := f.At()
	if tx.chainID = f.Uint64("chainId"); tx.chainID == 0 {
		f.Fail("chainId", offset, "is 0: a typed transaction names its chain")
	}
	tx.readNonce(f)
	tx.readFees(f)
	tx.gas = f.Uint64("gas")
	tx.readCall(f)
	tx.accessList = evm.ReadAccessList(f, "accessList")
	switch tx.kind {
	case typeBlob:
		tx.readBlobItems(f)
	case typeSetCode:
		tx.readAuthorizations(f)
	}
	tx.items = rlp.Between(start, f.At())
	if f.More() {
		tx.whole = false
		for _, name := range [...]string{"yParity", "r", "s"} {
			offset := f.At()
			if item := f.String(name); item.Len() > 0 {
				f.Fail(name, offset, "is not empty: this transaction is signed already")
			}
		}
	}
}

func (tx *transaction) readNonce(f *rlp.Fields) {
	offset := f.At()
	if tx.nonce = f.Uint64("nonce"); tx.nonce == math.MaxUint64 {
		f.Fail("nonce", offset, "is 2^64−1, which no account can use (EIP-2681)")
	}
}

func (tx *transaction) readFees(f *rlp.Fields) {
	if tx.kind == typeAccessList {
		tx.feeCap = f.Uint256("gasPrice")
		tx.tipCap = tx.feeCap
		return
	}
	tx.tipCap = f.Uint256("maxPriorityFeePerGas")
	offset := f.At()
	tx.feeCap = f.Uint256("maxFeePerGas")
	if rlp.Less(tx.feeCap.Of(tx.raw), tx.tipCap.Of(tx.raw)) {
		f.Fail("maxFeePerGas", offset, "is below maxPriorityFeePerGas")
	}
}

func (tx *transaction) readCall(f *rlp.Fields) {
	offset := f.At()
	to, present := f.OptionalAddress("to")
	tx.to, tx.creation = to, !present
	if tx.creation && (tx.kind == typeBlob || tx.kind == typeSetCode) {
		f.Fail("to", offset, "is empty: a transaction of type %d cannot create a contract", tx.kind)
	}
	offset = f.At()
	tx.value = f.Uint256("value")
	if !tx.payable() {
		f.Fail("value", offset, "gas·price + value is over 256 bits: no balance could pay it")
	}
	tx.data = f.String("data")
}
