// Package tempo reads, shows and signs native Tempo transactions, type 0x76.
// Transactions of types 0, 1, 2 and 4 for Tempo come in as Ethereum ones.
//
// # In
//
//	76 ‖ rlp([chainId, maxPriorityFeePerGas, maxFeePerGas, gas, calls, accessList,
//	          nonceKey, nonce, validBefore, validAfter, feeToken, feePayer,
//	          authorizationList, keyAuthorization?])
//
//	calls              [[to (20 bytes, or none), value, input]…], 1 to 32
//	feePayer           80 the sender pays · 00 a sponsor will · [yParity, r, s] has signed
//	authorizationList  [[chainId, address, nonce, signature]…], at most 16
//	keyAuthorization   [[chainId, keyType, keyId, expiry?, limits?, scopes?,
//	                     witness?, isAdmin?, account?], signature]
//
// Thirteen items, or fourteen with a key authorization. Source: the Tempo
// transaction specification and TIP-1009, TIP-1011, TIP-1049, TIP-1053, TIP-1106.
//
// Times are seconds since 1970, fees 10⁻¹⁸ US dollars per gas, amounts of a
// token its smallest unit.
//
// For the fee payer to countersign: the same with feePayer 00 and the sender's
// signature as an additional item; or what it signs, 78 ‖ rlp([…]), with the sender's
// address as feePayer and the sender's signature as an additional item.
//
// # Out
//
// The same with the sender's signature as an additional item: 65 bytes r ‖ s ‖ v, v 27
// or 28. An access key, one whose [keystore.Delegate] names the account it acts for,
// signs for that account: 04 ‖ account ‖ 65 bytes, over keccak256(04 ‖ hash ‖ account).
// A fee payer's signature goes into feePayer; apart from it only the type changes.
//
// # Preimage
//
// The bytes that came in. If a sponsor pays, in either of the two forms, the same items
// with feePayer as 00 and feeToken as 80: a sponsored sender does not commit to the
// token that the fee is paid in, and the summary says so. The node refuses the
// placeholder 00: that output is for the payer to complete.
//
// A key authorization is never decoded and re-encoded: if limits are absent or 80 the
// key has no limits, and if they are c0 it may spend nothing. A library that mistakes
// one for the other signs something else than it was given.
//
// # Refused
//
// Anything but the one canonical encoding: other RLP, an item too many or too few, a trailing field
// of a key authorization written as 80, a zero period. Transactions that are signed already. What
// can never be valid: chain id 0, gas 0, fees over 128 bits, a tip over the cap, no calls or more
// than 32, an input over 128 KiB, a creation that is not the first call or comes with
// authorizations, validBefore not after validAfter, expiring nonces (nonce key 2^256−1) without
// validBefore, a signature with s high or zero, of keychain version 1 or of a configurable account,
// more than 16 authorizations, more than 256 addresses in the access list, 256 storage keys of one,
// or 2,048 in all.
//
// Of a key authorization: another chain, no signature or another account's, key id 0, an admin key
// with restrictions, more than 256 limits or 64 scopes, rules or recipients, one of them twice, a
// limit over 128 bits, recipients where the network does not check them.
//
// # Hazards
//
// Refused unless the name is allowed: the Hazard constants.
//
// # What is not checked
//
// Signatures by P-256 and WebAuthn keys are only checked for their shape: the network
// verifies them. The clock, balances and the keys of an account are not known here.
//
// # How old the rules are
//
// They follow the node tempoxyz/tempo at d656ef55 (2026-08-21), with hardfork T12 of
// v1.16.0 (mainnet 2026-10-13), and viem 2.57.20 with its ox 0.14.67 (2026-11).
// Hardfork T13 had no date on the public networks in September 2026; a later hardfork
// may have changed the rules. The precompiles are no contracts that tests could
// execute: their functions were taken from the node's sources.
package tempo

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// Name is the chain's name in errors, hazards and summaries.
const Name = "tempo"

// Limits are the bounds beyond which a transaction is a hazard. A zero field means the default.
type Limits struct {
	// GasCap is the largest gas of a transaction. Default: DefaultGasCap.
	GasCap uint64

	// MaxFee is the highest fee in US dollars. Default: DefaultMaxFee.
	MaxFee float64
}

// Defaults of Limits.
const (
	DefaultGasCap = 30_000_000 // the network's cap for one transaction
	DefaultMaxFee = 100        // US dollars
)

// Chain implements chains.Chain. The zero Chain has the default limits.
type Chain struct {
	limits Limits
}

var _ chains.Chain = Chain{}

// New returns the chain with limits.
func New(limits Limits) Chain { return Chain{limits: limits} }

func (Chain) Name() string    { return Name }
func (Chain) Expects() string { return "hex of the raw unsigned transaction, type 0x76" }

// Addresses implements chains.Chain: the same as on Ethereum.
func (Chain) Addresses(pub keystore.PublicKey) []chains.Address { return evm.Addresses(pub) }

// Locate implements chains.Chain. The account may have given other keys access.
func (Chain) Locate(address []byte) (keystore.Locator, bool) { return evm.Owner(address) }

func (Chain) HazardNames() []string {
	return append(evm.HazardNames(Name), HazardReservedNonceKey, HazardGasOverCap, HazardForeignFeeToken, HazardHighFee,
		HazardUnlimitedKey, HazardUnscopedKey, HazardAnyChainAuthorization, HazardNeverIncluded, HazardNoMinimum)
}

func (c Chain) Parse(raw []byte) (chains.Transaction, error) {
	tx := &transaction{limits: c.limits, raw: raw}
	if err := tx.parse(); err != nil {
		return nil, err
	}
	return tx, nil
}
