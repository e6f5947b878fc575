package chains

import (
	"errors"
	"fmt"
)

// The kinds of a ParseError, for errors.Is.
var (
	// ErrMalformed: not a transaction of this chain, not in the canonical encoding, or never valid.
	ErrMalformed = errors.New("malformed transaction")

	// ErrUnsupported: of a type or version that the chain does not support.
	ErrUnsupported = errors.New("unsupported transaction type")
)

// The kinds of a SignerError, for errors.Is.
var (
	// ErrSignWith: signWith looks like an address but is not one.
	ErrSignWith = errors.New("malformed signWith")

	// ErrNotSigner: the transaction does not need the key's signature.
	ErrNotSigner = errors.New("not a signer of this transaction")
)

// ParseError reports why raw bytes are refused.
type ParseError struct {
	Kind    error  // ErrMalformed or ErrUnsupported
	Chain   string // such as "ethereum"
	Field   string // in the chain's own terms, such as "field 5 (maxFeePerGas)"; empty for the whole transaction
	Offset  int    // of the field, or the fault in it, in the raw bytes; −1 if there is none
	Problem string // what is wrong and, where it helps, the cure
}

// Error returns one line, such as
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

func (e *ParseError) Unwrap() error { return e.Kind }

// SignerError reports why a key or a signWith does not fit a transaction.
type SignerError struct {
	Kind    error  // ErrSignWith or ErrNotSigner
	Chain   string // such as "solana"
	Problem string // what is wrong and, where it helps, which keys could sign
}

// Error returns one line.
func (e *SignerError) Error() string { return fmt.Sprintf("%s: signWith: %s", e.Chain, e.Problem) }
func (e *SignerError) Unwrap() error { return e.Kind }
