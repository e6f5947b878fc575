package ethereum

import (
	"math"

	"github.com/countersign-dev/countersign/internal/rlp"
)

// A legacy transaction is a list of six items, or of nine with the chain id of EIP-155
// and two zeros in the place of the signature.
const (
	legacyItems  = 6
	legacyEIP155 = 9
	maxLegacyID  = (math.MaxUint64 - 36) / 2 // v = chainId·2 + 36 has 64 bits at most
	errNoChainID = "is 0, which names no chain: put chainId, 0, 0 where v, r, s will be (EIP-155), or leave all " +
		"three out to sign without replay protection"
	errSignedItem = "is not empty: this transaction is signed already, or v, r, s are not chainId, 0, 0 (EIP-155)"
)

func (tx *transaction) parseLegacy() error {
	f := rlp.Open(Name, tx.raw, 0)
	start := f
	if tx.readLegacyItems(&f); f.Close() == nil {
		return nil
	}
	// As in readBody.
	if count := start.Count(); count >= 0 && count != legacyItems && count != legacyEIP155 {
		start.Fail("", start.At(), "%d items: a legacy transaction has 6, or 9 with chainId, 0, 0 (EIP-155)", count)
		return start.Err()
	}
	return f.Err()
}

func (tx *transaction) readLegacyItems(f *rlp.Fields) {
	start := f.At()
	tx.readNonce(f)
	tx.feeCap = f.Uint256("gasPrice")
	tx.tipCap = tx.feeCap
	tx.gas = f.Uint64("gas")
	tx.readCall(f)
	tx.items = rlp.Between(start, f.At())
	tx.whole = true
	if f.More() {
		tx.readEIP155(f)
	}
}

// readEIP155 reads chainId, 0, 0, in whose place a signed transaction has v, r and s.
func (tx *transaction) readEIP155(f *rlp.Fields) {
	offset := f.At()
	switch tx.chainID = f.Uint64("chainId"); {
	case tx.chainID == 0:
		f.Fail("chainId", offset, errNoChainID)
	case tx.chainID > maxLegacyID:
		f.Fail("chainId", offset, "v = chainId·2 + 36 would be over 64 bits")
	}
	for _, name := range [...]string{"r", "s"} {
		offset := f.At()
		if empty := f.String(name); empty.Len() > 0 {
			f.Fail(name, offset, errSignedItem)
		}
	}
}
