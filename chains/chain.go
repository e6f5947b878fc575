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

	// Expects describes an unsigned transaction of this chain, for messages to
	// callers that sent something else: "hex of a PSBT".
	Expects() string

	// Parse reads an unsigned transaction strictly. The transaction keeps raw,
	// which the caller must not change afterwards. The error is a *ParseError.
	Parse(raw []byte) (Transaction, error)

	// Addresses returns the key's addresses on this chain, in all its networks
	// and formats; none if the chain does not use keys of that curve.
	Addresses(pub keystore.PublicKey) []Address

	// Owner returns where to look for the key that alone controls an address,
	// given in the chain's binary form (see PartyAt). ok is false if no single
	// key does, as for a contract's address in a form of its own or a script.
	Owner(address []byte) (at keystore.Locator, ok bool)

	// HazardNames is the closed list of hazards that the chain knows.
	HazardNames() []string
}

// Transaction is a transaction that was read strictly: a view over the raw
// bytes. Its methods are functions of those bytes alone. It is used by one
// goroutine at a time.
type Transaction interface {
	// Summary describes the transaction. It is built when asked for. Its effects
	// are those of Effects, as the bytes alone tell them (see TableUser).
	Summary() Summary

	// Effects returns everything that signing the transaction does, at most
	// MaxEffects. It is built when asked for and must not be changed.
	Effects() []Effect

	// Hazards returns the dangers that depend on no key, none if there are none.
	Hazards() []Hazard

	// Request reads signWith, an address in one of the chain's forms or a key's
	// id, and verifies an address's checksum. The error is a *SignerError.
	Request(signWith string) (Request, error)
}

// OwnerFinder is a Transaction that knows whose some addresses are, where the address by
// itself does not tell. What it says is proven by the transaction's bytes.
type OwnerFinder interface {
	// Owner is Chain.Owner, for the addresses of this transaction.
	Owner(address []byte) (at keystore.Locator, ok bool)
}

// Request is a transaction together with what should sign it.
type Request interface {
	// Locators returns where to look for keys that can sign: several if a
	// script names several keys. Never empty.
	Locators() []keystore.Locator

	// With takes the keys that were found, at least one, in the order of
	// Locators, or all keys of a wallet, and refuses everything that can be
	// refused without signing. Keys that the transaction has no use for are
	// ignored as long as one is left. The error is a *ParseError, a *SignerError,
	// or one that wraps keystore.ErrUnsupported.
	With(keys ...keystore.Key) (Signing, error)
}

// Signing is a transaction that is ready to be signed: nothing but the key can
// fail any more.
type Signing interface {
	// KeyIDs returns the ids of the keys that will sign, each once.
	KeyIDs() []string

	// SignerView returns what depends on who signs, to be shown beside the
	// summary: the sender's address, which inputs and outputs are the signer's.
	SignerView() []Field

	// Effects returns the transaction's effects, in the same order, with
	// SignerParty replaced by the signer's address.
	Effects() []Effect

	// Hazards returns all dangers of signing, those of the transaction first.
	Hazards() []Hazard

	// AppendSigned appends the signed transaction in raw bytes to dst, which may
	// be nil and shares no memory with the transaction, and returns the extended
	// slice; nil with an error. Its errors are the key's.
	AppendSigned(ctx context.Context, dst []byte) ([]byte, error)
}

// Balancer is implemented by signings of chains on which effects do not say what
// leaves the signer: the outputs of a Bitcoin transaction are paid by all of its
// inputs together. It is what limits count there.
type Balancer interface {
	// Balance returns how much of the native asset leaves the keys that were
	// given to With, net of what comes back and fee included; unknown if the bytes
	// do not bound it. yours reports whether an address, in binary form, belongs
	// to another key of the same wallet; it may be nil.
	Balance(yours func(address []byte) bool) Quantity
}

// SignatureAppender is implemented by signings whose signature can leave by
// itself, without the transaction: for callers that hold the transaction and put
// the signature into it.
type SignatureAppender interface {
	// AppendSignature appends the one signature that AppendSigned would add: r ‖ s ‖
	// recovery id (0 or 1) on secp256k1, the 64 bytes of RFC 8032 on Ed25519. It is
	// for signings with one key. Its errors are the key's.
	AppendSignature(ctx context.Context, dst []byte) ([]byte, error)
}

// Address is one address of a key.
type Address struct {
	Format  string `json:"format"`  // as the API names it, such as ADDRESS_FORMAT_ETHEREUM
	Address string `json:"address"` // in the form the chain's tools print
}
