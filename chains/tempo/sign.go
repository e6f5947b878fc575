package tempo

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"
	ethrlp "github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// sponsored is feeToken and feePayer in what a sponsored sender signs.
var sponsored = []byte{0x80, 0x00}

// senderHash returns the digest that the sender signs: over the items, or, if another
// account pays, over the same with feeToken 80 and feePayer 00.
func (tx *transaction) senderHash() [32]byte {
	if tx.sender == nil && (tx.feePayer.form == payerNone || tx.feePayer.form == payerPlaceholder && !tx.hasFeeToken) {
		return evm.Keccak256(tx.raw)
	}
	before := tx.raw[tx.items.Start:tx.feeTokenItem.Start]
	after := tx.raw[tx.feePayerItem.End:tx.unsignedEnd()]
	var room [1 + rlp.MaxListHeader]byte
	header := rlp.AppendListHeader(append(room[:0], typeTempo), len(before)+len(sponsored)+len(after))
	return evm.Keccak256(header, before, sponsored, after)
}

// splice appends the items followed by the sender's signature, a string of 65 bytes, or
// 86 of an access key, with a header that counts it:
//
//	76 ‖ header ‖ items ‖ b8 41 ‖ r ‖ s ‖ v
//	76 ‖ header ‖ items ‖ b8 56 ‖ 04 ‖ account ‖ r ‖ s ‖ v
func (tx *transaction) splice(dst, signature []byte) []byte {
	size := tx.items.Len() + 2 + len(signature)
	out := slices.Grow(dst, 1+rlp.MaxListHeader+size)
	out = rlp.AppendListHeader(append(out, typeTempo), size)
	out = append(out, tx.items.Of(tx.raw)...)
	out = append(out, 0xb7+1, byte(len(signature)))
	return append(out, signature...)
}

// splicePayer appends the items with the fee payer's signature in its place:
//
//	76 ‖ header ‖ items before ‖ [yParity, r, s] ‖ items after, the sender's signature last
func (tx *transaction) splicePayer(dst []byte, signature *[65]byte) []byte {
	r, s := signature[:32], signature[32:64]
	before, after := tx.raw[tx.items.Start:tx.feePayerItem.Start], tx.raw[tx.feePayerItem.End:tx.items.End]
	inner := 1 + rlp.ScalarSize(r) + rlp.ScalarSize(s)
	size := len(before) + rlp.ListHeaderSize(inner) + inner + len(after)
	out := slices.Grow(dst, 1+rlp.MaxListHeader+size)
	out = rlp.AppendListHeader(append(out, typeTempo), size)
	out = append(out, before...)
	out = rlp.AppendListHeader(out, inner)
	out = rlp.AppendUint(out, uint64(signature[64]))
	out = rlp.AppendScalar(out, r)
	out = rlp.AppendScalar(out, s)
	return append(out, after...)
}

// The indexes of feeToken and feePayer in the items of a transaction.
const (
	itemFeeToken = 10
	itemFeePayer = 11
)

// Unsign is that of chains.Forms: it removes the sender's signature, the last item. The
// signer is recovered from a secp256k1 signature; for other kinds it is not reported.
func (Chain) Unsign(raw []byte) (unsigned []byte, signers []string, signed bool, err error) {
	if len(raw) == 0 || raw[0] != typeTempo {
		return nil, nil, false, nil
	}
	items, err := rlp.Items(raw[1:])
	if err != nil || len(items) == 0 {
		return nil, nil, false, nil //nolint:nilerr // Parse says what is wrong
	}
	form, signature, _, err := ethrlp.Split(items[len(items)-1])
	if err != nil || form != ethrlp.String || len(signature) < sizeSecp256k1 {
		return nil, nil, false, nil //nolint:nilerr // the same
	}
	items = items[:len(items)-1]
	unsigned = rlp.AppendList([]byte{typeTempo}, items...)
	if len(signature) != sizeSecp256k1 {
		return unsigned, nil, true, nil
	}
	plain := bytes.Clone(signature)
	if plain[64] >= 27 {
		plain[64] -= 27
	}
	if len(items) > itemFeePayer && !bytes.Equal(items[itemFeePayer], ethrlp.EmptyString) {
		items = slices.Clone(items) // of which the sender signs these two if another account pays the fee
		items[itemFeeToken], items[itemFeePayer] = ethrlp.EmptyString, []byte{0}
	}
	key, err := crypto.SigToPub(crypto.Keccak256(rlp.AppendList([]byte{typeTempo}, items...)), plain)
	if err != nil {
		return nil, nil, true, fmt.Errorf("tempo: this transaction is signed, but its signature is not one that "+
			"any key can make: %w", err)
	}
	return unsigned, []string{crypto.PubkeyToAddress(*key).Hex()}, true, nil
}
