package tempo

import (
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// sender is the signer of a transaction that its fee payer countersigns.
type sender struct {
	item      rlp.Span // the signature's item, header included
	signature envelope
	address   evm.Address // the account; of a keychain's signature, the one that it names
}

// unsignedEnd returns the end of the items that sender and fee payer sign.
func (tx *transaction) unsignedEnd() int32 {
	if tx.sender == nil {
		return tx.items.End
	}
	return tx.sender.item.Start
}

// checkSigned refuses what is signed already and waits for no fee payer, and what a fee
// payer would sign for a sender that has not signed.
func (tx *transaction) checkSigned() error {
	form := tx.feePayer.form
	switch {
	case tx.sender == nil && form == payerSender:
		return malformed("signature", len(tx.raw), "is missing: a fee payer countersigns what its sender has signed")
	case tx.sender == nil:
		return nil
	case form == payerNone || form == payerSigned:
		return malformed("signature", int(tx.sender.item.Start), "is present: the transaction is signed already")
	}
	address, ok := tx.sender.signature.address(tx.raw, tx.senderHash())
	switch {
	case !ok:
		return malformed("signature", int(tx.sender.item.Start), "is not valid: no key can have made it")
	case tx.sender.signature.keychain:
		address = tx.sender.signature.account
	}
	if form == payerSender && tx.feePayer.sender != address {
		return malformed("feePayer", int(tx.feePayerItem.Start),
			"is "+tx.feePayer.sender.String()+", but "+address.String()+" has signed")
	}
	tx.sender.address = address
	return nil
}
