package chains

import (
	"errors"
	"fmt"
)

// What a ParseError is, for errors.Is.
var (
	// ErrMalformed: not a transaction of this chain, not in its one canonical
	// encoding, or one that can never be right.
	ErrMalformed = errors.New("malformed transaction")

	// ErrUnsupported: of a type or version that this chain's reader does not know.
	ErrUnsupported = errors.New("unsupported transaction type")
)

// What a SignerError is, for errors.Is.
var (
	// ErrSignWith: signWith looks like an address and is not one.
	ErrSignWith = errors.New("malformed signWith")

	// ErrNotSigner: the key is not one of those that this transaction needs.
	ErrNotSigner = errors.New("not a signer of this transaction")
)

// ParseError says why raw bytes are refused.
type ParseError struct {
	Kind    error  // ErrMalformed or ErrUnsupported
	Chain   string // such as "ethereum"
	Field   string // the field in the chain's own terms, such as "field 5 (maxFeePerGas)"; empty for the whole
	Offset  int    // byte offset in the raw bytes at which the field, or the fault in it, begins; −1 if none
	Problem string // what is wrong and, where it helps, the cure
}

// Error returns one whole line, such as
//
//	ethereum: field 5 (maxFeePerGas) at byte 12: integer has a leading zero
func (e *ParseError) Error() string {
	switch {
	case e.Field == "" && e.Offset < 0:
		return fmt.Sprintf("%s: %s", e.Chain, e.Problem)
	case e.Field == "":
		return fmt.Sprintf("%s: at byte %d: %s", e.Chain, e.Offset, e.Problem)
	case e.Offset < 0:
		return fmt.Sprintf("%s: %s: %s", e.Chain, e.Field, e.Problem)
	}
	return fmt.Sprintf("%s: %s at byte %d: %s", e.Chain, e.Field, e.Offset, e.Problem)
}

// Unwrap returns the kind.
func (e *ParseError) Unwrap() error { return e.Kind }

// SignerError says why a key or a signWith does not fit a transaction.
type SignerError struct {
	Kind    error  // ErrSignWith or ErrNotSigner
	Chain   string // such as "solana"
	Problem string // what is wrong and, where it helps, who could sign
}

// Error returns one whole line.
func (e *SignerError) Error() string { return fmt.Sprintf("%s: signWith: %s", e.Chain, e.Problem) }

// Unwrap returns the kind.
func (e *SignerError) Unwrap() error { return e.Kind }
