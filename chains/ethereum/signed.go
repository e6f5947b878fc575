package ethereum

import (
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	ethrlp "github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/rlp"
)

// signedItems are the numbers of items of signed transactions, by type. The last three are
// v or the parity of y, r and s.
var signedItems = map[byte]int{typeLegacy: 9, typeAccessList: 11, typeDynamicFee: 12, typeBlob: 14, typeSetCode: 13}

// errSignature refuses a signature that no key can have made.
var errSignature = errors.New("ethereum: this transaction is signed, but its signature does not verify: v, r and s are not those of a signature")

// Unsign is that of chains.Forms: it removes v, r and s, and the blobs of the network
// form.
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
