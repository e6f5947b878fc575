package chains

import (
	"context"

	"github.com/countersign-dev/countersign/keystore"
)

// Chain reads the transactions of one chain. Implementations are values
// without state and safe for concurrent use.
type Chain interface {
	// Name is the chain's name in errors, hazards and summaries: lower case,
	// such as "ethereum".
	Name() string

	// Expects says what an unsigned transaction is here, for messages to who has
	// given something else: "hex of a PSBT".
	Expects() string

	// Parse reads an unsigned transaction strictly. The transaction keeps raw,
	// which the caller must not change afterwards. The error is a *ParseError.
	Parse(raw []byte) (Transaction, error)

	// Addresses returns the key's addresses on this chain, in all its networks
	// and formats; none if the chain does not use keys of that curve.
	Addresses(pub keystore.PublicKey) []Address

	// HazardNames is the closed list of hazards that the chain knows.
	HazardNames() []string
}

// Transaction is a transaction that was read strictly: a view over the raw
// bytes. It is used by one goroutine at a time.
type Transaction interface {
	// Summary tells what the transaction does. It is built when asked for,
	// from the bytes alone.
	Summary() Summary

	// SignerView tells what of the transaction depends on who signs, for a
	// person to see beside the summary: "from", which outputs are ours.
	SignerView(signer keystore.PublicKey) []Field

	// Hazards returns the dangers of signing it, none if there are none. With
	// the zero PublicKey it returns those that depend on no key.
	Hazards(signer keystore.PublicKey) []Hazard

	// Signers returns where to look for a key that signWith can mean here, in
	// order of preference: signWith is an address in one of the chain's forms
	// or a key's id. The error is a *SignerError: a malformed address. See
	// [Spelled] for checksums.
	Signers(signWith string) ([]keystore.Locator, error)

	// Check returns what of AppendSigned's refusals can be known without signing:
	// a *ParseError, a *SignerError, or one that wraps keystore.ErrUnsupported.
	Check(key keystore.Key, signWith string) error

	// AppendSigned appends the signed transaction in raw bytes to dst, which may
	// be nil and has nothing in common with them, and returns the extended slice;
	// nil with an error. It refuses what Check refuses. Otherwise its errors are
	// the key's.
	AppendSigned(ctx context.Context, dst []byte, key keystore.Key, signWith string) ([]byte, error)
}

// Networked is implemented by transactions whose bytes do not say for which of
// their chain's networks they are, where that decides how addresses are written.
type Networked interface {
	// ShownFor returns the transaction with addresses as on the network of
	// signWith, if that is an address; else as they are. The network is part of
	// the summary.
	ShownFor(signWith string) Transaction
}

// Spelled is implemented by transactions whose Signers takes an address without
// its checksum. Check has it from the key that was found; only where there is no
// such key has it to be computed, to tell a mistyped address from an unknown one.
type Spelled interface {
	// CheckSpelling returns a *SignerError if signWith is an address with a wrong
	// checksum, or one that Signers refuses.
	CheckSpelling(signWith string) error
}

// Address is one address of a key.
type Address struct {
	Format  string `json:"format"`  // as the API names it, such as ADDRESS_FORMAT_ETHEREUM
	Address string `json:"address"` // in the form the chain's tools print
}
