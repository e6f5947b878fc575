// Package tron reads, shows and signs Tron transactions.
//
// # In
//
// Protocol Buffers (proto3), as java-tron declares them in core/Tron.proto and
// core/contract/*.proto. Either the message Transaction.raw, which TronWeb calls raw_data_hex:
//
//	0a 02 ref_block_bytes(2)         1   last two bytes of a recent block's number
//	22 08 ref_block_hash(8)          4   bytes 8 to 15 of that block's hash
//	40    expiration                 8   milliseconds since 1970
//	52    data                      10   memo, any bytes
//	5a    contract                  11   exactly one:
//	        08 type                  1     ContractType
//	        12 parameter             2     google.protobuf.Any:
//	             0a type_url         1       type.googleapis.com/protocol.TransferContract
//	             12 value            2       the contract's message
//	        1a provider              3     not used by the network
//	        22 ContractName          4     not used by the network
//	        28 Permission_id         5     0 owner, 2 to 9 active permissions
//	70    timestamp                 14   milliseconds since 1970
//	90 01 fee_limit                 18   sun that executing it may burn
//
// or a whole Transaction, for another party of a permission to sign:
//
//	0a len raw_data                  1   Transaction.raw
//	12 41 signature(65)              2   of other parties, any number of them
//
// # Out
//
// The whole Transaction, as wallet/broadcasthex accepts it: raw_data exactly as it came in, the
// signatures that it has, and the new one after them: r ‖ s ‖ v, v 1b or 1c. The signed digest is
// SHA-256 over the bytes of raw_data, which is also the transaction's id.
//
// # Refused
//
// Protocol Buffers can encode one message in many ways, which lenient readers merge: of two amounts
// the last one counts, the fields of two messages are combined, unknown fields are dropped or kept.
// This reader accepts one encoding: fields in ascending order, each once, defaults left out,
// varints in their shortest form, no field that the message does not declare, no group. The
// parameters of a proposal are a map, whose order is free; a key comes once.
//
// It also refuses what can never be valid: no block reference, no expiration, none or
// several contracts, a type that is not the parameter's, a contract type that the
// network does not execute, addresses that are not 21 bytes beginning with 41, amounts
// not above 0 or below the network's minimum, texts that the network does not accept,
// negative limits, the witness permission, a transfer to oneself, more than 500 kB once
// signed, more than five signatures, a signature from which no signer can be recovered
// or whose signer is there twice. The tests in refuse_test.go list it case by case.
//
// # Hazards
//
// Well-formed but dangerous: the Hazard constants.
//
// # How old the rules are
//
// They follow java-tron 4.8.0 (GreatVoyage, 1e35f79a of 2025-05-12), whose actuators
// testdata/kinds.txt names, what mainnet's super representatives have decided until
// November 2026, and tronweb 6.5.1. Of the later releases, up to 4.8.2.2 (September
// 2026), only the descriptions of changes were read: the changes to contract creation
// are included, and no new contract type was found.
package tron

import (
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Name is the chain's name in errors, hazards and summaries.
const Name = "tron"

// Limits are the bounds of a transaction. A zero field means the default.
type Limits struct {
	// MaxSize is the largest size in bytes of a signed transaction, with the room that
	// the network keeps for its result. It is below 2 GiB. Default: DefaultMaxSize.
	MaxSize int

	// FeeLimit is the fee_limit in sun above which a transaction is a hazard.
	// Default: DefaultFeeLimit.
	FeeLimit int64

	// Lifetime is the time from timestamp to expiration above which a
	// transaction is a hazard. Default: DefaultLifetime.
	Lifetime time.Duration
}

// Defaults of Limits.
const (
	DefaultMaxSize  = 500 << 10      // TRANSACTION_MAX_BYTE_SIZE of java-tron
	DefaultFeeLimit = 15_000_000_000 // 15,000 TRX
	DefaultLifetime = 24 * time.Hour // MAXIMUM_TIME_UNTIL_EXPIRATION of java-tron
)

// maxSignatures is the largest number of signatures of a transaction: the network
// allows no permission more keys (TOTAL_SIGN_NUM).
const maxSignatures = 5

// Chain implements chains.Chain. The zero Chain has the default limits.
type Chain struct {
	limits Limits
}

var _ chains.Chain = Chain{}

// New returns the chain with limits.
func New(limits Limits) Chain { return Chain{limits: limits} }

func (Chain) Name() string { return Name }

// Addresses implements chains.Chain: one address in base58check.
func (Chain) Addresses(pub keystore.PublicKey) []chains.Address {
	if pub.Curve() != keystore.CurveSecp256k1 {
		return nil
	}
	return []chains.Address{{Format: addressFormat, Address: addressOf(pub).String()}}
}

// Locate implements chains.Chain: the key at an address of 21 bytes controls it alone,
// as far as the address says. An account's permissions may name others.
func (Chain) Locate(address []byte) (keystore.Locator, bool) {
	if len(address) != addressSize || address[0] != addressPrefix {
		return keystore.Locator{}, false
	}
	return keystore.ByKeccak(readAddress(address)), true
}

func (Chain) Expects() string { return "raw_data_hex, or hex of a whole Transaction" }
