package rlp

import "github.com/ethereum/go-ethereum/rlp"

// split is the item at an offset, and what it holds.
func split(raw []byte, at int) (content Span, isList bool, err error) {
	if content, isList, ok := splitShort(raw, at); ok {
		return content, isList, nil
	}
	kind, value, rest, err := rlp.Split(raw[at:])
	if err != nil {
		return Span{}, false, err
	}
	end := len(raw) - len(rest)
	return Between(end-len(value), end), kind == rlp.List, nil
}

// splitShort is split for what nearly all items are: a byte by itself, or up to
// 255 behind a header of one or two. What is longer, or wrong, is for rlp.Split.
func splitShort(raw []byte, at int) (content Span, isList, ok bool) {
	header, start, size := raw[at], at+1, 0
	switch {
	case header < 0x80:
		return Between(at, at+1), false, true
	case header < 0xb8:
		size = int(header - 0x80)
	case header >= 0xc0 && header < 0xf8:
		size = int(header - 0xc0)
	case (header == 0xb8 || header == 0xf8) && start < len(raw) && raw[start] >= 56:
		start, size = start+1, int(raw[start])
	default:
		return Span{}, false, false
	}
	ok = start+size <= len(raw)
	if header == 0x81 && ok {
		ok = raw[start] >= 0x80 // or else it would stand by itself
	}
	return Between(start, start+size), header >= 0xc0, ok
}
