package evm

import (
	"bytes"
	"encoding/binary"
)

// word is the unit of the contract ABI: 32 bytes.
const word = 32

// arguments reads the arguments of a call in their one canonical encoding: a
// head of one word for each, and behind the heads the tails of the dynamic
// ones in order, without gaps, padded with zeros.
//
// Contracts decode more leniently. What is not canonical is not decoded here
// but shown as bytes: a reader must not tell a person less, or other, than a
// contract would read.
type arguments struct {
	data []byte
	head int // offset of the next head
	tail int // offset at which the next tail must stand
	bad  bool
}

// newArguments reads data, which has heads words of heads.
func newArguments(data []byte, heads int) *arguments {
	return &arguments{data: data, tail: heads * word, bad: len(data) < heads*word}
}

// next returns the next word of the heads.
func (a *arguments) next() []byte {
	if a.bad || a.head+word > len(a.data) {
		a.bad = true
		return make([]byte, word)
	}
	a.head += word
	return a.data[a.head-word : a.head]
}

// right returns the last size bytes of the next word; those before must be zero.
func (a *arguments) right(size int) []byte {
	value := a.next()
	if !zeros(value[:word-size]) {
		a.bad = true
	}
	return value[word-size:]
}

// length reads a word that counts something that the data has room for.
func (a *arguments) length(value []byte, unit int) int {
	if !zeros(value[:word-8]) {
		a.bad = true
		return 0
	}
	length := binary.BigEndian.Uint64(value[word-8:])
	if length > uint64(len(a.data)/unit) {
		a.bad = true
		return 0
	}
	return int(length)
}

// open follows the next head to its tail, and returns the word that begins it.
func (a *arguments) open() []byte {
	if offset := a.length(a.next(), 1); a.bad || offset != a.tail || offset+word > len(a.data) {
		a.bad = true
		return make([]byte, word)
	}
	a.tail += word
	return a.data[a.tail-word : a.tail]
}

// dynamic reads an argument of type bytes.
func (a *arguments) dynamic() []byte {
	size := a.length(a.open(), 1)
	padded := (size + word - 1) / word * word
	if a.bad || a.tail+padded > len(a.data) || !zeros(a.data[a.tail+size:a.tail+padded]) {
		a.bad = true
		return nil
	}
	a.tail += padded
	return a.data[a.tail-padded : a.tail-padded+size]
}

// words reads an argument of type uint256[].
func (a *arguments) words() [][]byte {
	count := a.length(a.open(), word)
	if a.bad || a.tail+count*word > len(a.data) {
		a.bad = true
		return nil
	}
	words := make([][]byte, count)
	for i := range words {
		words[i] = a.data[a.tail : a.tail+word]
		a.tail += word
	}
	return words
}

// list reads an argument of type bytes[]. Its elements are encoded as the
// arguments of a call of their own.
func (a *arguments) list() [][]byte {
	count := a.length(a.open(), word)
	if a.bad {
		return nil
	}
	inner := newArguments(a.data[a.tail:], count)
	elements := make([][]byte, count)
	for i := range elements {
		elements[i] = inner.dynamic()
	}
	a.bad = a.bad || inner.bad
	a.tail += inner.tail
	return elements
}

// trailing returns what follows the arguments.
func (a *arguments) trailing() []byte {
	if a.bad || a.tail > len(a.data) {
		return nil
	}
	return a.data[a.tail:]
}

func zeros(part []byte) bool { return len(bytes.Trim(part, "\x00")) == 0 }
