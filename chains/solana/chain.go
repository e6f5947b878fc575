// Package solana reads Solana transactions strictly and signs them.
//
// [Chain.Parse] takes the wire form of a transaction whose signature slots are zero or
// filled by other signers. There are three versions. Legacy and v0 begin with their
// signatures, after a count:
//
//	compact-u16      number of signatures
//	64 bytes each    signatures, in the order of the account keys
//	message          legacy or v0, which begins with 0x80
//
// v1 (SIMD-0385) carries them at the end, without a count:
//
//	message          begins with 0x81
//	64 bytes each    signatures, as many as the message's header says
//
// The layouts of the messages are drawn in legacy.go, lookup.go and v1.go. A signature
// covers the message bytes unchanged; AppendSigned fills the signer's slot and leaves
// every other byte alone. Several signers sign one after the other, in any order.
//
// # What is refused
//
// Exactly one encoding of a transaction is accepted. Refused are trailing bytes, compact-u16
// numbers that are not in their shortest form, a signature count other than the header's, no
// signers or more signers than keys, signers that are all read-only (the first pays the fee),
// duplicate keys, indexes out of range, a program that is the fee payer or comes from a lookup
// table, lookups that are empty or load the same entry twice, a v1 configuration that the network
// would not accept, and other versions. A filled slot must hold a valid signature, by the strict
// rules that the network's nodes apply. The signer's own slot must be empty.
//
// Also refused is what every node refuses before executing anything: transactions over the
// network's size limit, more than 64 instructions or 64 accounts, and instructions of the Compute
// Budget program that do not exist, are repeated, or have a value out of range.
//
// # What is shown
//
// [Transaction.Effects] accounts for what the instructions do. Decoded are the instructions of the
// System program, SPL Token and Token-2022 with its extensions, Associated Token Account, Stake,
// Vote, Address Lookup Table, the loaders v3 and v4, the precompiles, Compute Budget, Memo, Squads
// v4 and Metaplex Token Metadata. The roles of accounts are checked: an account is called a sysvar
// or a program only if it has that address, and a signer only if it signs. Every other instruction
// is a call that is not decoded, and the summary shows its program, accounts and data whole.
//
// # Lookup tables
//
// The contents of an address lookup table are not in the transaction. The summary shows
// accounts from a table as entries of that table. In effects they are unknown, and one in
// a role that matters, such as a recipient, is the hazard [HazardUnresolvedAccount].
//
// The operator of an engine can supply the contents of tables ([Transaction.WithTables]): effects,
// hazards and calls then name the accounts. The summary and its digest still depend on the bytes
// alone, and the reading of the table is recorded. A copy of a table stays valid: entries are only
// added, never changed, and the address of a table, which is derived from its authority and a
// recent slot, cannot be reused once the table is closed. An entry that the copy does not have may
// be added after signing, and stays unknown. The tables of messages that a multisig stores are not
// looked up.
//
// # How old the rules are
//
// The layouts and roles follow the sources of solana-program/stake 4459fcf (program v5),
// solana-program/token eb074cf (p-token), solana-program/token-2022 426400f (program
// v11), and agave 035f9f0 (vote, system, compute budget), as of August 2026. Tests
// execute them with LiteSVM 1.5.0, and decode what the clients current on 2026-11-23
// write. Programs and features that LiteSVM does not have follow their sources alone,
// such as Squads-Protocol/v4 c14a6d6, metaplex-foundation's mpl-token-metadata c314930
// and Jac0xb/lighthouse 4c57947: interop/solanatable_test.go lists what is not executed.
package solana

import "github.com/countersign-dev/countersign/chains"

// Name is the chain's name in errors, hazards and summaries.
const Name = "solana"

// The largest transactions that the network accepts, in bytes with signatures.
const (
	DefaultMaxSize   = 1232 // legacy and v0: what fits into an IPv6 packet
	DefaultMaxSizeV1 = 4096 // v1, SIMD-0385
)

// The limits of a v1 transaction (SIMD-0385).
const (
	maxSignaturesV1   = 12
	maxAddressesV1    = 64
	maxInstructionsV1 = 64
)

// Limits bounds what Parse accepts. Zero values mean the defaults.
type Limits struct {
	MaxSize   int // bytes of a legacy or v0 transaction; DefaultMaxSize if zero
	MaxSizeV1 int // bytes of a v1 transaction; DefaultMaxSizeV1 if zero

	// MaxFee is the fee in lamports above which a transaction carries
	// HazardHighFee; DefaultMaxFee if zero.
	MaxFee uint64
}

// Chain is Solana. It implements chains.Chain.
type Chain struct {
	limits Limits
}

var _ chains.Chain = Chain{}

// New returns the chain with limits.
func New(limits Limits) Chain { return Chain{limits: limits} }

// Name returns "solana".
func (Chain) Name() string    { return Name }
func (Chain) Expects() string { return "hex of the whole wire transaction, with zeroed signatures" }
