package gethoracle

import (
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

// List returns the RLP list with this content.
func List(content []byte) []byte {
	header, err := rlp.EncodeToBytes(content) // a list's header is a string's plus 0x40
	switch {
	case err != nil:
		panic(err)
	case len(content) == 1 && content[0] < 0x80:
		return []byte{0xc1, content[0]}
	}
	header[0] += 0x40
	return header
}

// Unsigned encodes a signed transaction as it was before it was signed, without its
// sidecar.
func Unsigned(tx *types.Transaction) []byte {
	var items []any
	if tx.Type() != types.LegacyTxType {
		items = append(items, tx.ChainId())
	}
	items = append(items, tx.Nonce())
	switch tx.Type() {
	case types.LegacyTxType, types.AccessListTxType:
		items = append(items, tx.GasPrice())
	default:
		items = append(items, tx.GasTipCap(), tx.GasFeeCap())
	}
	to := []byte{}
	if tx.To() != nil {
		to = tx.To().Bytes()
	}
	items = append(items, tx.Gas(), to, tx.Value(), tx.Data())
	return encode(tx, append(items, tail(tx)...))
}

// tail returns the items behind the data.
func tail(tx *types.Transaction) []any {
	switch tx.Type() {
	case types.LegacyTxType:
		if !tx.Protected() {
			return nil
		}
		return []any{tx.ChainId(), uint(0), uint(0)}
	case types.BlobTxType:
		return []any{tx.AccessList(), tx.BlobGasFeeCap(), tx.BlobHashes()}
	case types.SetCodeTxType:
		return []any{tx.AccessList(), tx.SetCodeAuthorizations()}
	}
	return []any{tx.AccessList()}
}

func encode(tx *types.Transaction, items []any) []byte {
	list, err := rlp.EncodeToBytes(items)
	if err != nil {
		panic(err)
	}
	if tx.Type() == types.LegacyTxType {
		return list
	}
	return append([]byte{tx.Type()}, list...)
}

// WithEmptySignature appends the three empty items of a signature to an unsigned typed
// transaction.
func WithEmptySignature(unsigned []byte) []byte {
	content, _, err := rlp.SplitList(unsigned[1:])
	if err != nil {
		panic(err)
	}
	return append([]byte{unsigned[0]}, List(append(append([]byte{}, content...), 0x80, 0x80, 0x80))...)
}
