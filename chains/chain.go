package chains

import (
	"context"

	"github.com/countersign-dev/countersign/keystore"
)

// Chain reads the transactions of one chain. Implementations are values
// without state and safe for concurrent use.
type Chain interface {
	// Name is the chain's name in errors, hazards and summaries: lower case, such as "ethereum".
	Name() string

	// Expects describes an unsigned transaction of this chain, such as "hex of a PSBT",
	// for errors about input that is something else.
	Expects() string

	// Parse parses an unsigned transaction strictly. The transaction keeps raw, which
	// the caller must not change afterwards. The error is a *ParseError.
	Parse(raw []byte) (Transaction, error)

	// Addresses returns the key's addresses on all networks of this chain, in every
	// format. There are none if the chain does not use keys of that curve.
	Addresses(pub keystore.PublicKey) []Address

	// Locate returns the locator of the key that alone controls an address, which is
	// in the chain's binary form (see PartyAt). ok is false if no single key does, as
	// for a script, or a contract's address where contracts have a form of their own.
	Locate(address []byte) (locator keystore.Locator, ok bool)

	// HazardNames returns the closed list of the chain's hazards, without Words.TextHazards.
	HazardNames() []string

	// Words returns what the chain is called in policies, names and descriptions.
	Words() Words
}

// Transaction is a transaction that was parsed strictly: a view of the raw bytes. Its methods are
// functions of those bytes alone. It must not be used by several goroutines at once.
type Transaction interface {
	// Chain returns the name of the chain, that of the summary.
	Chain() string

	// Summary describes the transaction. Each call builds it. Its effects are those of
	// Effects, without anything that lookup tables resolve (see TableUser).
	Summary() Summary

	// Effects returns everything that signing the transaction does, at most MaxEffects.
	// Each call builds the list. It must not be changed.
	Effects() []Effect

	// Hazards returns the hazards that do not depend on a key.
	Hazards() []Hazard

	// Request parses signWith, an address in one of the chain's forms or a key's id,
	// and verifies the checksum of an address. The error is a *SignerError.
	Request(signWith string) (Request, error)
}

// Exclusive is implemented by transactions that exclude others.
type Exclusive interface {
	// UsesUp describes what only one transaction can use, such as a nonce of the account that
	// signs, or an output. Of two that have a description in common, at most one is executed.
	UsesUp(signer string) []string
}

// Request is a transaction together with the key or address that should sign it.
type Request interface {
	// Locators returns the locators of the keys that can sign. It is never empty, and
	// has several locators if a script names several keys.
	Locators() []keystore.Locator

	// With takes the keys that were found, at least one, in the order of Locators, or
	// all keys of a wallet. It refuses everything that can be refused without signing,
	// and ignores keys that the transaction does not need as long as it needs one. The
	// error is a *ParseError, a *SignerError, or wraps keystore.ErrUnsupported.
	With(keys ...keystore.Key) (Signing, error)
}

// Signing is a transaction that is ready to be signed: only the key can still fail.
type Signing interface {
	// KeyIDs returns the ids of the keys that sign, each once.
	KeyIDs() []string

	// SignerView returns the fields that depend on who signs, to be shown with the
	// summary: the sender's address, which inputs and outputs are the signer's.
	SignerView() []Field

	// Effects returns the transaction's effects, in the same order, with
	// SignerParty replaced by the signer's address.
	Effects() []Effect

	// Hazards returns all hazards of signing, those of the transaction first.
	Hazards() []Hazard

	// AppendSigned appends the signed transaction in raw bytes to dst and returns the
	// extended slice, or nil and the key's error. dst may be nil and must not share
	// memory with the transaction.
	AppendSigned(ctx context.Context, dst []byte) ([]byte, error)
}

// WalletTransaction is implemented by transactions that registered wallets can sign.
type WalletTransaction interface {
	Transaction

	// RequestOf returns the request to sign the inputs of a registered wallet, and no others,
	// with all keys of it that are found. Its error is a *SignerError of kind ErrNotSigner if
	// no input is the wallet's.
	RequestOf(wallet keystore.Registration, accounts Accounts) (Request, error)
}

// WalletSigning is implemented by signings for which a wallet is more than the address that
// pays, as on Bitcoin, where change goes to an address of its own, and that registered wallets
// may have parts in. Its methods depend on the accounts.
type WalletSigning interface {
	AccountSigning

	// Balance returns the net amount of the native asset that leaves the wallets that
	// sign, including the fee. It is unknown if the bytes do not bound it.
	Balance() Quantity

	// Registered returns what the transaction does with registered wallets.
	Registered() RegisteredUse

	// ChargeID identifies what the transaction takes from a wallet, whichever keys of the
	// wallet sign in whichever requests.
	ChargeID(wallet keystore.Registration) [32]byte
}

// RegisteredUse is what a transaction does with registered wallets. It follows from the keys of
// the organization, whatever the transaction says about their origins.
type RegisteredUse struct {
	Used []keystore.Registration // that it spends from or pays to, first those that sign
	Only bool                    // every input that the request signs is of the first one

	// Mixed is set if inputs that the request signs are of a registered wallet, or may be, and
	// not all are of one: what is spent then is no single wallet's.
	Mixed bool

	Hazards []Hazard // of inputs that may be a registered wallet's
}

// SignatureAppender is implemented by signings that can return the signature alone, for
// callers that hold the transaction and insert the signature themselves.
type SignatureAppender interface {
	// AppendSignature appends the signature that AppendSigned adds: r ‖ s ‖ recovery id
	// (0 or 1) on secp256k1, the 64 bytes of RFC 8032 on Ed25519. The signing must have
	// one key. The errors are the key's.
	AppendSignature(ctx context.Context, dst []byte) ([]byte, error)
}

// Address is one address of a key.
type Address struct {
	Format  string `json:"format"`  // as the API names it, such as ADDRESS_FORMAT_ETHEREUM
	Address string `json:"address"` // in the form the chain's tools print
}
