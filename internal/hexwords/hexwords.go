// Package hexwords reads and writes hex in words of the machine, where
// encoding/hex goes digit by digit. All that goes in and out of a signature is hex:
// digit by digit it would cost as much as reading the transaction.
//
// On amd64 a word has 32 digits, handled side by side by the vector instructions
// that every such processor has (build tag purego: not). Elsewhere, and for what is
// shorter, it has eight, a byte each; no sum below carries from one byte into the
// next, for all bytes that count are under 0x80.
package hexwords

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
)

const (
	wordDigits = 8              // digits in a word
	wordBytes  = wordDigits / 2 // bytes that they stand for

	blockDigits = 32 // digits in a word of decodeBlocks and encodeBlocks
	blockBytes  = blockDigits / 2

	each = 0x0101010101010101 // times a byte: that byte in each place
	top  = 0x80 * each
)

// Decode writes what the digits stand for to out, half as many bytes as there
// are digits, and reports whether they are all hex digits, in any case, and even in
// number. If not, what is in out means nothing.
func Decode(out []byte, digits string) bool {
	if len(digits)%2 != 0 {
		return false // the last word would not end where out does
	}
	out = out[:len(digits)/2]
	switch {
	case blocks && len(digits) >= blockDigits:
		return decodeBlocks(out, digits)
	case len(digits) >= wordDigits:
		return decodeWords(out, digits)
	}
	_, err := hex.Decode(out, []byte(digits))
	return err == nil
}

// decodeWords is Decode for at least a word of digits.
func decodeWords(out []byte, digits string) bool {
	// The last word overlaps the one before it, as far as it must.
	lastDigits, lastOut := digits[len(digits)-wordDigits:], out[len(out)-wordBytes:]
	right := uint64(top)
	for len(digits) >= wordDigits {
		word := load(digits)
		right &= hexDigits(word)
		binary.LittleEndian.PutUint32(out, pack(word))
		digits, out = digits[wordDigits:], out[wordBytes:]
	}
	word := load(lastDigits)
	binary.LittleEndian.PutUint32(lastOut, pack(word))
	return right&hexDigits(word) == top
}

// load returns the first eight digits, the first of them lowest.
func load(digits string) uint64 {
	_ = digits[wordDigits-1]
	return uint64(digits[0]) | uint64(digits[1])<<8 | uint64(digits[2])<<16 | uint64(digits[3])<<24 |
		uint64(digits[4])<<32 | uint64(digits[5])<<40 | uint64(digits[6])<<48 | uint64(digits[7])<<56
}

// hexDigits has the top bit of each byte that is a hex digit, and of no other.
func hexDigits(word uint64) uint64 {
	letter := word | 0x20*each // in lower case
	decimals := (word + (0x80-'0')*each) &^ (word + (0x7f-'9')*each)
	letters := (letter + (0x80-'a')*each) &^ (letter + (0x7f-'f')*each)
	return (decimals | letters) &^ word & top
}

// pack returns the four bytes that eight hex digits stand for.
func pack(word uint64) uint32 {
	// '0' to '9' have their value in the low half; 'A' and 'a' have 1 there, and
	// bit 6, which no decimal has.
	values := word&(0x0f*each) + word>>6&each*9
	pairs := (values<<4 | values>>8) & 0x00ff00ff00ff00ff
	pairs = (pairs | pairs>>8) & 0x0000ffff0000ffff
	return uint32(pairs | pairs>>16)
}

// Append appends the digits of the bytes, in lower case.
func Append(out, raw []byte) []byte {
	switch {
	case blocks && len(raw) >= blockBytes:
		start, size := len(out), 2*len(raw)
		out = slices.Grow(out, size)[:start+size]
		encodeBlocks(out[start:], raw)
		return out
	case len(raw) >= wordBytes:
		return appendWords(out, raw)
	}
	return hex.AppendEncode(out, raw)
}

// appendWords is Append for at least a word of bytes.
func appendWords(out, raw []byte) []byte {
	last := raw[len(raw)-wordBytes:]
	for len(raw) >= wordBytes {
		out = binary.LittleEndian.AppendUint64(out, unpack(binary.LittleEndian.Uint32(raw)))
		raw = raw[wordBytes:]
	}
	// As in decodeWords, the last word overlaps the one before it.
	out = out[:len(out)-2*(wordBytes-len(raw))]
	return binary.LittleEndian.AppendUint64(out, unpack(binary.LittleEndian.Uint32(last)))
}

// unpack returns the eight digits of four bytes, the first of them lowest.
func unpack(raw uint32) uint64 {
	pairs := uint64(raw)
	pairs = (pairs | pairs<<16) & 0x0000ffff0000ffff
	pairs = (pairs | pairs<<8) & 0x00ff00ff00ff00ff
	values := pairs>>4&(0x0f*each) | pairs<<8&(0x0f00*(each&0x00ff00ff00ff00ff))
	letters := (values + 6*each) >> 4 & each // 1 where the value is 10 or more
	return values + '0'*each + letters*('a'-'0'-10)
}
