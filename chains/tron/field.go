package tron

import (
	"bytes"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// wireName returns the name of a wire type in the specification.
func wireName(wire protowire.Type) string {
	return [...]string{"VARINT", "I64", "LEN", "SGROUP", "EGROUP", "I32"}[wire]
}

func (f *field) need() string {
	switch {
	case f.why != "":
		return f.why
	case f.wire() == protowire.VarintType:
		return "the network requires a value above 0"
	}
	return "without it the network refuses the transaction"
}

func (f *field) checkNumber(v value) error {
	switch n := v.number; {
	case n == f.except && f.except != 0:
		return malformed(f.path, v.from(), "%d: %s", n, f.why)
	case n >= f.least && n <= f.most && (n != 0 || f.zero):
		return nil
	case n == 0 && f.least <= 0:
		return malformed(f.path, v.from(), "0 is the default, which the canonical encoding leaves out")
	case f.kind == kindBool:
		return malformed(f.path, v.from(), "%d is not a bool: 1, or left out", uint64(n))
	case f.kind == kindEnum:
		return malformed(f.path, v.from(), "%d is not one of its values: %s", n, f.why)
	case f.least == 1 && n < 1:
		return malformed(f.path, v.from(), "%d: the network requires a value above 0", n)
	case f.least > 1 && n < f.least:
		return malformed(f.path, v.from(), "%d is below %d, the least that the network accepts", n, f.least)
	case f.least == 0 && n < 0:
		return malformed(f.path, v.from(), "%d is negative", n)
	default:
		return malformed(f.path, v.from(), "%d is outside %d to %d", n, f.least, f.most)
	}
}

func (f *field) checkBytes(raw []byte, from, to int) error {
	length := int64(to - from)
	switch f.kind {
	case kindMessage, kindMessages:
		if f.of == nil {
			return nil // read where the message is known
		}
		var inner values
		return f.of.read(raw, from, to, inner[:])
	case kindAddress, kindOwner:
		switch {
		case to-from == addressSize && raw[from] == addressPrefix:
			return nil
		case to-from == addressSize:
			return malformed(f.path, from, "address starts with %02x, want 41", raw[from])
		case to-from == addressSize-1:
			return malformed(f.path, from, "20 bytes: this looks like an Ethereum address; an address of Tron has 41 "+
				"in front and 21 bytes")
		}
		return malformed(f.path, from, "address has %d bytes, want 21", to-from)
	case kindToken:
		id, orTRX := raw[from:to], ", or _ for TRX"
		if f.noTRX {
			orTRX = ""
		}
		switch {
		case string(id) == trxToken && !f.noTRX:
			return nil
		case len(id) == 0 || len(id) > maxTokenDigits || id[0] == '0' || len(bytes.Trim(id, "0123456789")) > 0:
			return malformed(f.path, from, "%q is not the id of a token: a number in decimal%s", id, orTRX)
		}
		return nil
	case kindString:
		if !utf8.Valid(raw[from:to]) {
			return malformed(f.path, from, "not UTF-8, which a string is")
		}
	}
	switch {
	case f.least == f.most && length != f.least:
		return malformed(f.path, from, "%d bytes, want %d: %s", length, f.least, f.why)
	case length == 0:
		return malformed(f.path, from, "empty: the canonical encoding leaves an empty field out")
	case length < f.least:
		return malformed(f.path, from, "%d bytes, at least %d are accepted", length, f.least)
	case length > f.most:
		return malformed(f.path, from, "%d bytes, at most %d are accepted", length, f.most)
	case f.plain && bytes.IndexFunc(raw[from:to], func(r rune) bool { return r < '!' || r > '~' }) >= 0:
		return malformed(f.path, from, "%q: the network accepts ASCII from ! to ~, without spaces", raw[from:to])
	}
	return nil
}

const (
	trxToken       = "_" // stands for TRX where a token is expected
	maxTokenDigits = 19  // of an int64
)
