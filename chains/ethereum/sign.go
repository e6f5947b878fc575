package ethereum

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	ethrlp "github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
	"github.com/countersign-dev/countersign/keystore"
)

func (tx *transaction) Ready(with evm.Signing, _ keystore.Key) (chains.Signing, error) {
	return &signing{with, tx}, nil
}

type signing struct {
	evm.Signing
	tx *transaction
}

func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	signature, err := s.Key.SignECDSA(ctx, s.tx.preimageHash())
	if err != nil {
		return nil, err
	}
	return s.tx.splice(dst, &signature), nil
}

// preimageHash returns Keccak-256 over what is signed: the raw bytes if they are the preimage, or
// else type ‖ list header ‖ items, with the bytes of the items that came in.
func (tx *transaction) preimageHash() [32]byte {
	if tx.whole {
		return evm.Keccak256(tx.raw)
	}
	var room [1 + rlp.MaxListHeader]byte
	header := rlp.AppendListHeader(append(room[:0], tx.kind), tx.items.Len())
	return evm.Keccak256(header, tx.items.Of(tx.raw))
}

// splice appends the items followed by the signature r ‖ s ‖ v, with headers that count it:
//
//	legacy        header ‖ items ‖ v ‖ r ‖ s
//	typed         type ‖ header ‖ items ‖ yParity ‖ r ‖ s
//	network form  type ‖ header ‖ (header ‖ items ‖ yParity ‖ r ‖ s) ‖ sidecar
func (tx *transaction) splice(dst []byte, signature *[65]byte) []byte {
	r, s, v := signature[:32], signature[32:64], tx.v(signature[64])
	body := tx.items.Len() + rlp.UintSize(v) + rlp.ScalarSize(r) + rlp.ScalarSize(s)

	out := slices.Grow(dst, 1+2*rlp.MaxListHeader+body+tx.sidecar.Len())
	if tx.kind != typeLegacy {
		out = append(out, tx.kind)
	}
	if tx.sidecar.Len() > 0 {
		out = rlp.AppendListHeader(out, rlp.ListHeaderSize(body)+body+tx.sidecar.Len())
	}
	out = rlp.AppendListHeader(out, body)
	out = append(out, tx.items.Of(tx.raw)...)
	out = rlp.AppendUint(out, v)
	out = rlp.AppendScalar(out, r)
	out = rlp.AppendScalar(out, s)
	return append(out, tx.sidecar.Of(tx.raw)...)
}

// v returns the recovery id in the encoding of the transaction's type.
func (tx *transaction) v(recoveryID byte) uint64 {
	switch {
	case tx.kind != typeLegacy:
		return uint64(recoveryID)
	case tx.chainID == 0:
		return 27 + uint64(recoveryID)
	}
	return tx.chainID*2 + 35 + uint64(recoveryID)
}

// signedItems are the numbers of items of signed transactions, by type. The last three are
// v or the parity of y, r and s.
var signedItems = map[byte]int{typeLegacy: 9, typeAccessList: 11, typeDynamicFee: 12, typeBlob: 14, typeSetCode: 13}

// errSignature refuses a signature that no key can have made.
var errSignature = errors.New("ethereum: this transaction is signed, but its signature does not verify: v, r and s " +
	"are not those of a signature")

// Unsign is that of chains.Forms: it removes v, r and s, and the blobs of the network form.
func (c Chain) Unsign(raw []byte) (unsigned []byte, signers []string, signed bool, err error) {
	prefix, items := itemsOf(raw)
	if len(items) < 3 {
		return nil, nil, false, nil
	}
	body, last := items[:len(items)-3], items[len(items)-3:]
	v, r, s := number(last[0]), number(last[1]), number(last[2])
	if v == nil || r == nil || s == nil || !v.IsUint64() || r.Sign() == 0 || s.Sign() == 0 {
		return nil, nil, false, nil
	}
	parity := v.Uint64()
	if prefix == nil {
		parity, body = splitV(v.Uint64(), body)
	}
	if parity > 1 || !crypto.ValidateSignatureValues(byte(parity), r, s, true) {
		return nil, nil, true, errSignature
	}
	unsigned = rlp.AppendList(prefix, body...)
	tx := &transaction{limits: c.limits, raw: unsigned}
	if tx.parse() != nil {
		return unsigned, nil, true, nil //nolint:nilerr // Parse says what is wrong with it
	}
	var signature [65]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:64])
	signature[64] = byte(parity)
	hash := tx.preimageHash()
	key, err := crypto.SigToPub(hash[:], signature[:])
	if err != nil {
		return nil, nil, true, errSignature
	}
	return unsigned, []string{crypto.PubkeyToAddress(*key).Hex()}, true, nil
}

// itemsOf returns the type byte of a transaction, nil if it is legacy, and its items. They
// are nil if it does not have those of a signed transaction.
func itemsOf(raw []byte) (prefix []byte, items [][]byte) {
	if len(raw) == 0 {
		return nil, nil
	}
	kind, list := byte(typeLegacy), raw
	if raw[0] <= typeSetCode {
		kind, prefix, list = raw[0], raw[:1:1], raw[1:]
	}
	items, err := rlp.Items(list)
	if err == nil && kind == typeBlob && len(items) > 0 && items[0][0] >= 0xc0 { // the network form, with blobs
		items, err = rlp.Items(items[0])
	}
	if err != nil || len(items) != signedItems[kind] || prefix != nil && kind == typeLegacy {
		return nil, nil
	}
	return prefix, items
}

// splitV returns the parity of y that v of a legacy transaction has, and the items of the
// unsigned one: v of EIP-155 has the chain id, too.
func splitV(v uint64, body [][]byte) (parity uint64, items [][]byte) {
	const plain, eip155 = 27, 35
	if v < eip155 {
		return v - plain, body
	}
	id := rlp.AppendUint(nil, (v-eip155)/2)
	return (v - eip155) % 2, append(body[:len(body):len(body)], id, ethrlp.EmptyString, ethrlp.EmptyString)
}

// number returns the number in an item, or nil if it is not one of at most 32 bytes.
func number(item []byte) *big.Int {
	content, _, err := ethrlp.SplitString(item)
	if err != nil || len(content) > common.HashLength || len(content) > 0 && content[0] == 0 {
		return nil
	}
	return new(big.Int).SetBytes(content)
}
