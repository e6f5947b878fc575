package tempo

import (
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// feePayer is the payer of the fee, if it is not the sender.
type feePayer struct {
	form    feePayerForm
	sender  evm.Address // of payerSender
	yParity uint8
	r, s    rlp.Span
}

type feePayerForm uint8

const (
	payerNone        feePayerForm = iota // 80: the sender pays
	payerPlaceholder                     // 00: a sponsor will pay, and has not signed
	payerSigned                          // [yParity, r, s]
	payerSender                          // the sender's address: for a fee payer to sign (0x78)
)

func (tx *transaction) readFeePayer(f *rlp.Fields) {
	if f.NextIsList() && tx.raw[0] == typeTempo {
		tx.readPayerSignature(f)
		return
	}
	offset := f.At()
	item := f.Raw("feePayer")
	switch {
	case f.Err() != nil:
	case tx.raw[0] == typeFeePayer && len(item) == 1+20 && item[0] == 0x80+20:
		tx.feePayer.form, tx.feePayer.sender = payerSender, evm.Address(item[1:])
	case tx.raw[0] == typeFeePayer:
		f.Fail("feePayer", offset, "is not the sender's address, which stands here in what a fee payer signs (0x78)")
	case len(item) == 1 && item[0] == 0x80:
	case len(item) == 1 && item[0] == 0x00:
		tx.feePayer.form = payerPlaceholder
	default:
		f.Fail("feePayer", offset, "is neither 80 (the sender pays), 00 (placeholder) nor [yParity, r, s]")
	}
}

func (tx *transaction) readPayerSignature(f *rlp.Fields) {
	signature := f.List("feePayer")
	payer := &tx.feePayer
	payer.form = payerSigned
	offset := signature.At()
	if payer.yParity = signature.Uint8("yParity"); payer.yParity > 1 {
		signature.Fail("yParity", offset, "is %d, neither 0 nor 1", payer.yParity)
	}
	offset = signature.At()
	payer.r = signature.Uint256("r")
	if r := payer.r.Uint256(tx.raw); !evm.ValidScalar(&r) {
		signature.Fail("r", offset, "is not between 1 and the group order")
	}
	offset = signature.At()
	payer.s = signature.Uint256("s")
	if s := payer.s.Uint256(tx.raw); !evm.LowScalar(&s) {
		signature.Fail("s", offset, "is not between 1 and half the group order")
	}
	f.Join(&signature)
}

// payerHash returns the digest that the fee payer of a sender signs. It commits to the fee token:
//
//	keccak256(78 ‖ rlp([…items, with the sender's address as feePayer]))
func (tx *transaction) payerHash(sender evm.Address) [32]byte {
	before := tx.raw[tx.items.Start:tx.feePayerItem.Start]
	after := tx.raw[tx.feePayerItem.End:tx.unsignedEnd()]
	header := rlp.AppendListHeader([]byte{typeFeePayer}, len(before)+21+len(after))
	return evm.Keccak256(header, before, append([]byte{0x80 + 20}, sender[:]...), after)
}
