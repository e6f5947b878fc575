package psbt

import (
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

const chainName = "bitcoin"

// section identifies a map of the PSBT: the global one, or that of an input or output.
type section struct {
	what  string // "", "input" or "output"
	index int
}

func (s section) String() string {
	if s.what == "" {
		return "global map"
	}
	return fmt.Sprintf("%s %d", s.what, s.index)
}

func (s section) field(name string) string {
	switch {
	case name == "":
		return s.String()
	case s.what == "":
		return name
	}
	return s.String() + " " + name
}

func malformed(field string, offset int, format string, args ...any) error {
	return &chains.ParseError{
		Kind: chains.ErrMalformed, Chain: chainName, Field: field, Offset: offset,
		Problem: fmt.Sprintf(format, args...),
	}
}

// in adds the field to a fault.
func in(field string, err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return malformed(field, f.offset, "%s", f.problem)
	}
	return err
}
