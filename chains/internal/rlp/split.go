package rlp

import "github.com/ethereum/go-ethereum/rlp"

// split returns the content of the item at an offset.
func split(raw []byte, at int) (content Span, isList bool, err error) {
	kind, value, rest, err := rlp.Split(raw[at:])
	if err != nil {
		return Span{}, false, err
	}
	end := len(raw) - len(rest)
	return Between(end-len(value), end), kind == rlp.List, nil
}
