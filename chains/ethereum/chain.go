// Package ethereum reads, shows and signs Ethereum transactions.
//
// # In
//
// The unsigned serialization, as it is hashed for signing:
//
//	legacy      rlp([nonce, gasPrice, gas, to, value, data])
//	  EIP-155   rlp([nonce, gasPrice, gas, to, value, data, chainId, 0, 0])
//	EIP-2930    01 ‖ rlp([chainId, nonce, gasPrice, gas, to, value, data, accessList])
//	EIP-1559    02 ‖ rlp([chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data, accessList])
//	EIP-4844    03 ‖ rlp([…as 02, maxFeePerBlobGas, blobVersionedHashes])
//	  network   03 ‖ rlp([body, blobs, commitments, proofs])
//	  EIP-7594  03 ‖ rlp([body, 1, blobs, commitments, cellProofs])
//	EIP-7702    04 ‖ rlp([…as 02, authorizationList])
//
// A typed transaction may have the three signature items yParity, r and s if they are
// empty (80 80 80), as go-ethereum, web3.js and ethereumjs write it: an exact alias of
// the form without them. In the network forms of EIP-4844 the sidecar is checked
// (counts, versioned hashes, KZG proofs) and kept unchanged.
//
// # Out
//
// The same with the signature: yParity, r, s for the typed ones (yParity 0 or 1); v, r,
// s for legacy (v = chainId·2 + 35 + parity, or 27 + parity without chain id). The
// bytes of the items are those that came in. They are also what is hashed, with a list
// header of their own if the input's header counts other items.
//
// # Refused
//
// Everything that the network can never accept: refuse_test.go lists it case by case,
// with the error for each. Well-formed but dangerous transactions carry hazards: the
// Hazard constants, and those of effects (ethereum/blind-call,
// ethereum/authority-change, ethereum/unlimited-approval, ethereum/burn).
//
// # How old the rules are
//
// The rules are those of go-ethereum v1.17.10, the newest release on 2026-11-23: Osaka on mainnet
// and Hoodi, Amsterdam on Sepolia since 2026-10-06. The known contracts are in
// internal/evm/contracts.txt, and the versions that tests execute in interop/evm/package.json.
package ethereum

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// Name is the chain's name in errors, hazards and summaries.
const Name = "ethereum"

// Limits are the bounds beyond which a transaction is a hazard. A zero field means the default.
type Limits struct {
	// GasCap is the largest gas of a transaction on Ethereum's own chains and on Tempo.
	// Default: the largest of the chain's forks, those included that its nodes are ready for.
	GasCap uint64

	// MaxSize is the size in bytes of the signed transaction without blobs above which
	// nodes do not relay it. Default: DefaultMaxSize.
	MaxSize int

	// MaxFee is the highest fee of a transaction, or of a user operation or another message
	// that is signed, in whole units of the chain's native asset. Default:
	// DefaultMaxFee; less on chains with low fees, and more where the asset is cheap.
	MaxFee float64
}

// Defaults of Limits.
const (
	DefaultMaxSize = 128 << 10
	DefaultMaxFee  = evm.DefaultMaxFee
)

// Chain implements chains.Chain. The zero Chain has the default limits.
type Chain struct {
	limits Limits
}

var _ chains.Chain = Chain{}

// New returns the chain with limits.
func New(limits Limits) Chain { return Chain{limits: limits} }

// Locate implements chains.Chain: the key at an address of 20 bytes.
func (Chain) Locate(address []byte) (locator keystore.Locator, ok bool) { return evm.Owner(address) }

func (Chain) Name() string { return Name }

func (Chain) Expects() string { return "hex of the raw unsigned transaction in RLP" }

// Addresses implements chains.Chain: one address with the checksum of EIP-55.
func (Chain) Addresses(pub keystore.PublicKey) []chains.Address { return evm.Addresses(pub) }

func (Chain) HazardNames() []string {
	own := []string{HazardNoChainID, HazardAnyChainAuthorization, HazardEmptyCreation, HazardGasOverCap, HazardOversize,
		HazardDelegation, HazardHighFee, HazardNeverIncluded, HazardNoMinimum}
	return append(own, evm.HazardNames(Name)...)
}

func (c Chain) Parse(raw []byte) (chains.Transaction, error) {
	tx := &transaction{limits: c.limits, raw: raw}
	if err := tx.parse(); err != nil {
		return nil, err
	}
	return tx, nil
}
