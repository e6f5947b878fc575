// Package bitcoin reads, checks and signs partially signed Bitcoin
// transactions (PSBT): version 0 (BIP-174) and version 2 (BIP-370), with the
// taproot fields of BIP-371.
//
// In comes a PSBT, out goes the same PSBT with our signatures: every other
// byte is as it came, but for PSBT_GLOBAL_TX_MODIFIABLE of version 2, which a
// signature limits (BIP-370). [Finalize] makes the network transaction.
//
//	ECDSA          PSBT_IN_PARTIAL_SIG     02 ‖ public key (33)             → DER ‖ sighash type
//	taproot key    PSBT_IN_TAP_KEY_SIG     13                               → r ‖ s [‖ sighash type]
//	taproot leaf   PSBT_IN_TAP_SCRIPT_SIG  14 ‖ x-only key (32) ‖ leaf hash → r ‖ s [‖ sighash type]
//
// A new record goes before the first one of its map whose key sorts after it,
// else at the end. A signature of ours that is there already stays.
//
// # Inputs
//
// Signed are P2PKH, P2SH, P2WPKH, P2WSH, P2SH-P2WPKH, P2SH-P2WSH, P2TR by the
// key path (which is preferred) or by each leaf that names the key, and the
// bare forms P2PK and multisig. In a script the key must stand as it is,
// compressed, or by its hash.
//
// # What is refused
//
// Package psbt refuses what is not well-formed. Refused here, as what can
// never be right: no inputs or outputs, an input twice, amounts over 21
// million, outputs over inputs, an input that does not say what it spends or
// says it in two ways, a transaction that is not the one spent, a redeem or
// witness script or a taproot field that does not belong to the output, a
// legacy input without the transaction it spends, an unknown sighash type,
// SIGHASH_SINGLE without its output, a signature that does not verify, and an
// input of ours that is final already.
//
// # Hazards
//
// A signature of segwit version 0 commits to the amount of its own input only,
// one of before segwit to none. A PSBT that lies about the amounts of other
// inputs gets valid signatures, and two PSBTs that lie differently yield one
// transaction with a fee that neither of them showed (CVE-2020-14199). The rule
// that excludes it: a signature of ours is valid only if everything that the
// PSBT claims is true. So each amount is proven by the transaction that is
// spent, or every signature made in the request commits to it, or it is
// [HazardUnprovenAmount]. Taproot signatures over all inputs commit to all
// amounts; a sole input of segwit version 0 commits to its own. That one of
// several signatures commits to an amount is not enough, and an input that only
// claims to be our taproot output proves nothing about the others.
//
// The other hazards are the sighash types that leave parts of the transaction
// open, a high fee, and value for outputs that no one or anyone can spend.
//
// # How old the rules are
//
// The forms are those of BIP-174, 370, 371, 373 and 322, the sighashes those of BIP-143
// and 341. PSBTs of Bitcoin Core and HWI (4ae6006, 2026-08-21) and of Sparrow (drongo
// b385610) are test vectors, in both versions: Core writes version 2 by default since
// release 32. The release notes of Core 31.0 (April 2026) change nothing about PSBTs or
// about what is signed; of 32.1 only the change of the version is known here. The tests
// execute what is signed with the script engine of btcd's txscript v2.0.0.
package bitcoin

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
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
)

// Limits bound what is read and what goes without a hazard. Zero is the
// default of each.
type Limits struct {
	MaxSize         int     // bytes of a PSBT
	MaxUnsignedSize int     // bytes of an unsigned transaction; legacy inputs cost its square
	MaxFee          uint64  // satoshi
	MaxFeeRate      uint64  // satoshi for a virtual byte
	Network         Network // of the addresses shown, unless signWith is an address
}

func (l Limits) withDefaults() Limits {
	if l.MaxSize == 0 {
		l.MaxSize = DefaultMaxSize
	}
	if l.MaxUnsignedSize == 0 {
		l.MaxUnsignedSize = DefaultMaxUnsignedSize
	}
	if l.MaxFee == 0 {
		l.MaxFee = DefaultMaxFee
	}
	if l.MaxFeeRate == 0 {
		l.MaxFeeRate = DefaultMaxFeeRate
	}
	return l
}

// Chain is Bitcoin. The zero Chain has the default limits.
type Chain struct{ limits Limits }

var _ chains.Chain = Chain{}

// New makes a chain with limits.
func New(limits Limits) Chain { return Chain{limits} }

// Name implements chains.Chain.
func (Chain) Name() string { return Name }

// Expects implements chains.Chain.
func (Chain) Expects() string { return "hex of a PSBT, which starts 70736274ff" }

// Parse reads a PSBT and checks all that depends on no key. It keeps raw,
// which the caller must not change afterwards. The result is a *transaction.
func (c Chain) Parse(raw []byte) (chains.Transaction, error) {
	tx, err := c.parse(raw)
	if err != nil {
		return nil, err
	}
	return tx, nil
}

func (c Chain) parse(raw []byte) (*transaction, error) {
	limits := c.limits.withDefaults()
	if len(raw) > limits.MaxSize {
		return nil, malformed("", -1, "PSBT of %d bytes, at most %d are read", len(raw), limits.MaxSize)
	}
	packet, err := psbt.Read(raw)
	if err != nil {
		return nil, err
	}
	tx := &transaction{packet: packet, limits: limits, network: limits.Network}
	if err := tx.read(); err != nil {
		return nil, err
	}
	return tx, nil
}

// HazardNames implements chains.Chain.
func (Chain) HazardNames() []string {
	return []string{
		HazardSighashNone, HazardSighashSingle, HazardSighashAnyoneCanPay, HazardUnprovenAmount, HazardHighFee,
		HazardBurn, HazardAnyoneCanSpend, HazardBlindCall,
	}
}

func malformed(field string, offset int, format string, args ...any) error {
	return &chains.ParseError{
		Kind: chains.ErrMalformed, Chain: Name, Field: field, Offset: offset, Problem: fmt.Sprintf(format, args...),
	}
}
