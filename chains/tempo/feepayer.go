package tempo

import (
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
	"github.com/countersign-dev/countersign/internal/keccak"
)

// feePayer is who pays the fee, if it is not the sender.
type feePayer struct {
	form    feePayerForm
	yParity uint8
	r, s    rlp.Span
}

type feePayerForm uint8

const (
	payerNone        feePayerForm = iota // 80: the sender pays
	payerPlaceholder                     // 00: somebody will pay, and has not signed
	payerSigned                          // [yParity, r, s]
)

func (tx *transaction) readFeePayer(f *rlp.Fields) {
	if f.NextIsList() {
		tx.readPayerSignature(f)
		return
	}
	at := f.At()
	item := f.Raw("feePayer")
	switch {
	case f.Err() != nil:
	case len(item) == 1 && item[0] == 0x80:
	case len(item) == 1 && item[0] == 0x00:
		tx.feePayer.form = payerPlaceholder
	default:
		f.Fail("feePayer", at, "is none of 80 (the sender pays), 00 (placeholder) and [yParity, r, s]")
	}
}

func (tx *transaction) readPayerSignature(f *rlp.Fields) {
	signature := f.List("feePayer")
	payer := &tx.feePayer
	payer.form = payerSigned
	at := signature.At()
	if payer.yParity = signature.Uint8("yParity"); payer.yParity > 1 {
		signature.Fail("yParity", at, "is %d, neither 0 nor 1", payer.yParity)
	}
	at = signature.At()
	payer.r = signature.Uint256("r")
	if r := payer.r.Uint256(tx.raw); !evm.ValidScalar(&r) {
		signature.Fail("r", at, "is not between 1 and the group order")
	}
	at = signature.At()
	payer.s = signature.Uint256("s")
	if s := payer.s.Uint256(tx.raw); !evm.LowScalar(&s) {
		signature.Fail("s", at, "is not between 1 and half the group order")
	}
	f.Join(&signature)
}

// payer recovers who pays, given who sends. The fee payer signs
//
//	keccak256(78 ‖ rlp([…items, with the sender's address as feePayer]))
func (tx *transaction) payer(sender evm.Address) (payer evm.Address, ok bool) {
	before := tx.raw[tx.items.Start:tx.feePayerItem.Start]
	after := tx.raw[tx.feePayerItem.End:tx.items.End]
	header := rlp.AppendListHeader([]byte{typeFeePayer}, len(before)+21+len(after))
	digest := keccak.Sum256(header, before, append([]byte{0x80 + 20}, sender[:]...), after)
	return evm.Recover(digest, tx.feePayer.yParity, tx.feePayer.r.Uint256(tx.raw), tx.feePayer.s.Uint256(tx.raw))
}
