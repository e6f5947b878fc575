package evm

import (
	"bytes"
	"encoding/binary"
)

// decoder reads arguments in their one canonical encoding: a head for each, followed by
// the tails of the dynamic ones in order, without gaps, padded with zeros.
//
// Contracts decode more leniently. What is not canonical is not decoded but shown as bytes, with a
// note: a reader must not tell a person less than a contract would read, or something else. Lenient
// accepts one deviation, where contracts of the network are known to be called with it: bits above
// the width of an address, a bool or a short integer, which compilers before Solidity 0.5 mask.
type decoder struct {
	lenient bool
	tag     byte // may precede an address
	dirty   bool // a masked value was read
	bad     bool
}

func (n *Network) decoder() decoder { return decoder{lenient: n.Lenient, tag: n.Tag} }

// tuple reads consecutive values, and returns how many bytes they take. data may be longer.
func (d *decoder) tuple(data []byte, types []abiType) (values []value, used int) {
	return d.sequence(data, types, len(types))
}

// sequence reads count values, whose types are those given, repeated.
func (d *decoder) sequence(data []byte, types []abiType, count int) (values []value, used int) {
	tail, head := 0, 0
	if count > 0 {
		tail = heads(types) * (count / len(types))
	}
	if tail > len(data) {
		d.bad = true
		return nil, 0
	}
	values = make([]value, count)
	for i := range values {
		t := &types[i%len(types)]
		if !t.dynamic() {
			values[i], _ = d.static(data[head:], t)
		} else {
			if offset := d.length(data[head:head+word], len(data)); offset != tail {
				d.bad = true
			}
			if d.bad {
				return nil, 0
			}
			var size int
			values[i], size = d.tail(data[tail:], t)
			tail += size
		}
		if d.bad {
			return nil, 0
		}
		head += t.head()
	}
	return values, tail
}

// static reads a value that is among the heads, or consists of others.
func (d *decoder) static(data []byte, t *abiType) (v value, used int) {
	switch t.kind {
	case kindTuple:
		list, used := d.tuple(data, t.members)
		return value{abiType: t, list: list}, used
	case kindArray:
		list, used := d.sequence(data, t.members, t.size)
		return value{abiType: t, list: list, raw: data[:used]}, used
	}
	v = value{abiType: t, word: data[:word]}
	if !v.canonical(d.tag) {
		d.dirty = true
		d.bad = d.bad || !d.lenient
	}
	return v, word
}

// canonical reports whether the word has nothing but zeros (for a negative integer,
// ones) around the value. The tag may precede an address.
func (v *value) canonical(tag byte) bool {
	switch v.kind {
	case kindAddress:
		return zeros(v.word[:11]) && (v.word[11] == 0 || v.word[11] == tag)
	case kindFixed:
		return zeros(v.word[v.size:])
	case kindBool:
		return zeros(v.word[:word-1]) && v.word[word-1] <= 1
	case kindInt:
		if v.word[word-v.size]&0x80 != 0 {
			return len(bytes.Trim(v.word[:word-v.size], "\xff")) == 0
		}
	}
	return zeros(v.word[:word-v.size])
}

// tail reads a dynamic value at the start of data: one without a length of its own, or the length
// and what it counts.
func (d *decoder) tail(data []byte, t *abiType) (v value, used int) {
	switch {
	case t.kind == kindTuple || t.kind == kindArray && t.size >= 0:
		return d.static(data, t)
	case len(data) < word:
		d.bad = true
		return v, 0
	case t.kind == kindArray:
		count := d.length(data[:word], (len(data)-word)/t.members[0].head())
		if d.bad {
			return v, 0
		}
		list, used := d.sequence(data[word:], t.members, count)
		return value{abiType: t, list: list, raw: data[word : word+used]}, word + used
	}
	size := d.length(data[:word], len(data)-word)
	end := word + (size+word-1)/word*word
	if d.bad || end > len(data) || !zeros(data[word+size:end]) {
		d.bad = true
		return v, 0
	}
	return value{abiType: t, bytes: data[word : word+size]}, end
}

// length reads a word that counts something, at most most.
func (d *decoder) length(number []byte, most int) int {
	if !zeros(number[:word-8]) {
		d.bad = true
		return 0
	}
	length := binary.BigEndian.Uint64(number[word-8:])
	if length > uint64(most) {
		d.bad = true
		return 0
	}
	return int(length)
}
