// Package bitcoin reads, checks and signs partially signed Bitcoin transactions (PSBT): version 0
// (BIP-174) and version 2 (BIP-370), with the taproot fields of BIP-371.
//
// A PSBT comes in, and the same PSBT goes out with the signatures added. Every other
// byte stays unchanged, except PSBT_GLOBAL_TX_MODIFIABLE of version 2, which a
// signature limits (BIP-370). [Finalize] builds the network transaction.
//
//	ECDSA          PSBT_IN_PARTIAL_SIG     02 ‖ public key (33)             → DER ‖ sighash type
//	taproot key    PSBT_IN_TAP_KEY_SIG     13                               → r ‖ s [‖ sighash type]
//	taproot leaf   PSBT_IN_TAP_SCRIPT_SIG  14 ‖ x-only key (32) ‖ leaf hash → r ‖ s [‖ sighash type]
//
// A new record goes before the first record of its map whose key sorts after it, or
// else at the end. A signature that the PSBT already has is kept.
//
// # Inputs
//
// P2PKH, P2SH, P2WPKH, P2WSH, P2SH-P2WPKH, P2SH-P2WSH and the bare forms P2PK and
// multisig are signed, and P2TR by the key path, which is preferred, or by each leaf
// that names the key. A script must contain the compressed key itself, or its hash.
//
// # What is refused
//
// Package psbt refuses what is not well-formed. This package refuses what can never be valid: no
// inputs or outputs, an input twice, amounts over 21 million BTC, outputs that exceed inputs to which
// none can be added, an input that does not say what it spends or contradicts itself, a previous
// transaction with another id, a redeem script, witness script or taproot field that does not belong
// to the output, a legacy input without the transaction that it spends, an unknown sighash type,
// SIGHASH_SINGLE without its output, a signature that does not verify, and an input of a given key
// that is already final.
//
// # Hazards
//
// A signature of segwit version 0 commits to the amount of its own input only, and a legacy
// signature to none. A PSBT that lies about the amounts of other inputs gets valid signatures, and
// two PSBTs that lie differently can be combined into one transaction with a fee that neither of
// them showed (CVE-2020-14199). This rule excludes it: a signature made here is valid only if
// everything that the PSBT claims is true. So each amount must be proven by the transaction that is
// spent, or every signature made in the request must commit to it; otherwise it is
// [HazardUnprovenAmount]. Taproot signatures over all inputs commit to all amounts; that of a sole
// segwit version 0 input commits to its own. It is not enough that one of several signatures
// commits to an amount, and an input that only claims to be a key's taproot output proves nothing
// about the others.
//
// The other hazards are sighash types that leave parts of the transaction open, a high
// fee, what nodes never relay, and value for outputs that no one or anyone can spend.
//
// # How old the rules are
//
// The formats are those of BIP-174, 370, 371, 373 and 322, the sighashes those of
// BIP-143 and 341. PSBTs of Bitcoin Core and HWI (4ae6006, 2026-08-21) and of Sparrow
// (drongo b385610) are test vectors, in both versions: Core writes version 2 by default
// since release 32. The release notes of Core 31.0 (April 2026) change nothing about
// PSBTs or about what is signed; of 32.1 only the change of the version is known here.
// The tests run every signature through the script engine of btcd's txscript v2.0.0.
package bitcoin

import (
	"cmp"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// Name is the chain's name in errors, hazards and summaries.
const Name = "bitcoin"

// Defaults of [Limits].
const (
	// DefaultMaxSize is the longest PSBT that is read, in bytes.
	DefaultMaxSize = 4 << 20

	// DefaultMaxUnsignedSize is the longest unsigned transaction, in bytes:
	// what nodes relay (400,000 weight units, of which each byte is four).
	DefaultMaxUnsignedSize = 100_000

	// DefaultMaxFee is the highest fee without HazardHighFee, in satoshi: 0.05 BTC.
	DefaultMaxFee = 5_000_000

	// DefaultMaxFeeRate is the highest fee rate without HazardHighFee, in
	// satoshi for a virtual byte.
	DefaultMaxFeeRate = 1_000

	// MinFeeShare is the fee in satoshi from which a fee of more than a quarter of all
	// inputs is HazardHighFee. Below it, small payments are ordinary at a high rate.
	MinFeeShare = 50_000
)

// Limits bound what is read, and what is signed without a hazard. A zero field means the default.
type Limits struct {
	MaxSize         int     // bytes of a PSBT
	MaxUnsignedSize int     // bytes of an unsigned transaction; legacy inputs cost its square
	MaxFee          uint64  // satoshi
	MaxFeeRate      uint64  // satoshi for a virtual byte
	Network         Network // of the addresses shown, unless signWith is an address
}

func (l Limits) withDefaults() Limits {
	l.MaxSize = cmp.Or(l.MaxSize, DefaultMaxSize)
	l.MaxUnsignedSize = cmp.Or(l.MaxUnsignedSize, DefaultMaxUnsignedSize)
	l.MaxFee = cmp.Or(l.MaxFee, DefaultMaxFee)
	l.MaxFeeRate = cmp.Or(l.MaxFeeRate, DefaultMaxFeeRate)
	return l
}

// Chain is Bitcoin. The zero Chain has the default limits.
type Chain struct{ limits Limits }

var _ chains.Chain = Chain{}

// New returns a chain with limits.
func New(limits Limits) Chain { return Chain{limits} }

func (Chain) Name() string    { return Name }
func (Chain) Expects() string { return "hex of a PSBT, which starts 70736274ff" }

func malformed(field string, offset int, format string, args ...any) error {
	return &chains.ParseError{
		Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset, Problem: fmt.Sprintf(format, args...),
	}
}

// signerError returns an error about signWith, or about the keys that it names.
func signerError(kind error, format string, args ...any) error {
	return &chains.SignerError{Kind: kind, Chain: Name, Problem: fmt.Sprintf(format, args...)}
}

// The hazards.
const (
	// HazardSighashNone: SIGHASH_NONE. Anyone with the signature decides where the money goes.
	HazardSighashNone = "bitcoin/sighash-none"

	// HazardSighashSingle: SIGHASH_SINGLE. All outputs but one stay open.
	HazardSighashSingle = "bitcoin/sighash-single"

	// HazardSighashAnyoneCanPay: SIGHASH_ANYONECANPAY. Others may add inputs.
	HazardSighashAnyoneCanPay = "bitcoin/sighash-anyonecanpay"

	// HazardUnprovenAmount: an amount is a claim of the PSBT, so that the fee
	// may be higher than it looks.
	HazardUnprovenAmount = "bitcoin/unproven-amount"

	// HazardHighFee: the fee or the fee rate exceeds its limit, or the fee is more than
	// a quarter of all inputs (see MinFeeShare).
	HazardHighFee = "bitcoin/high-fee"

	// HazardNeverRelayed: an output is dust, or the transaction has a version, that no node relays.
	HazardNeverRelayed = "bitcoin/never-relayed"

	// HazardBurn: value for an output that can never be spent.
	HazardBurn = "bitcoin/burn"

	// HazardAnyoneCanSpend: value for an output that is not locked to anyone, or
	// whose script has no known form.
	HazardAnyoneCanSpend = "bitcoin/anyone-can-spend"

	// HazardBlindCall: an output instructs a protocol of tokens that is not
	// decoded, or there are more outputs than are accounted for.
	HazardBlindCall = "bitcoin/blind-call"

	// HazardUnregisteredScript: a key of a registered wallet, or one of which that is not
	// known, signs in a script of several keys that is not the wallet's.
	HazardUnregisteredScript = "bitcoin/unregistered-script"
)

func (Chain) HazardNames() []string {
	return []string{
		HazardSighashNone, HazardSighashSingle, HazardSighashAnyoneCanPay, HazardUnprovenAmount, HazardHighFee,
		HazardNeverRelayed, HazardBurn, HazardAnyoneCanSpend, HazardBlindCall, HazardUnregisteredScript,
	}
}
