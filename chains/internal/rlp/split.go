package rlp

import "github.com/ethereum/go-ethereum/rlp"

// split is the item at an offset, and what it holds.
func split(raw []byte, at int) (content Span, isList bool, err error) {
	kind, value, rest, err := rlp.Split(raw[at:])
	if err != nil {
		return Span{}, false, err
	}
	end := len(raw) - len(rest)
	return Between(end-len(value), end), kind == rlp.List, nil
}
