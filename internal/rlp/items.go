package rlp

import (
	"errors"

	"github.com/ethereum/go-ethereum/rlp"
)

// Items returns the items of a list, headers included. They are views of the list.
func Items(list []byte) (items [][]byte, err error) {
	content, rest, err := rlp.SplitList(list)
	if err != nil || len(rest) > 0 {
		return nil, errors.Join(err, errors.New("not one RLP list"))
	}
	for len(content) > 0 {
		_, _, after, err := rlp.Split(content)
		if err != nil {
			return nil, err
		}
		items = append(items, content[:len(content)-len(after)])
		content = after
	}
	return items, nil
}

// AppendList appends the list of items, which have their headers.
func AppendList(out []byte, items ...[]byte) []byte {
	size := 0
	for _, item := range items {
		size += len(item)
	}
	out = AppendListHeader(out, size)
	for _, item := range items {
		out = append(out, item...)
	}
	return out
}
