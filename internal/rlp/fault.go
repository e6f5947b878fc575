package rlp

import (
	"errors"
	"fmt"
	"io"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains"
)

// Fail records a fault of a field that was read, at a byte offset. The first fault is kept.
func (f *Fields) Fail(name string, offset int, format string, args ...any) {
	f.fail(name, offset, fmt.Sprintf(format, args...))
}

func (f *Fields) fail(name string, offset int, problem string) {
	if f.fault == nil {
		f.fault = &chains.ParseError{Kind: chains.ErrMalformed, Chain: f.chain, Field: f.step(name), Offset: offset,
			Problem: problem}
	}
}

func (f *Fields) failLength(name string, offset int, content Span, want string) {
	f.fail(name, offset, byteCount(content.Len())+", want "+want)
}

// step returns the name of the item that was read last. Fields and items are counted from 1.
func (f *Fields) step(name string) string {
	switch {
	case name == "":
		return ""
	case f.list == "":
		return fmt.Sprintf("field %d (%s)", f.number, name)
	}
	return fmt.Sprintf("item %d (%s)", f.number, name)
}

func byteCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func explain(err error) string {
	switch {
	case errors.Is(err, rlp.ErrCanonSize):
		return "the length is not in its shortest form"
	case errors.Is(err, rlp.ErrValueTooLarge), errors.Is(err, io.ErrUnexpectedEOF):
		return "the length reaches past the end: cut off, or a byte is wrong"
	}
	return err.Error()
}
