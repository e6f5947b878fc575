package ethereum

import (
	"cmp"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// The hazards of Ethereum transactions, in addition to those of effects.
const (
	HazardNoChainID             = "ethereum/no-chain-id"             // legacy without EIP-155
	HazardAnyChainAuthorization = "ethereum/any-chain-authorization" // EIP-7702 with chain id 0
	HazardEmptyCreation         = "ethereum/empty-creation"          // no "to" and no data
	HazardGasOverCap            = "ethereum/gas-over-cap"            // over the cap of the chain's fork
	HazardOversize              = "ethereum/oversize"                // over Limits.MaxSize
	HazardDelegation            = "ethereum/delegation"              // EIP-7702 by the signing account
	HazardHighFee               = "ethereum/high-fee"                // over Limits.MaxFee
	HazardNeverIncluded         = "ethereum/never-included"          // what no node of the chain accepts now
	HazardNoMinimum             = "ethereum/no-minimum"              // a swap may give nothing
)

// Hazards implements chains.Transaction.
func (tx *transaction) Hazards() []chains.Hazard {
	return tx.hazardsOf(tx.effects(tx.briefly()), chains.Party{})
}

// Hazards implements chains.Signing.
func (s *signing) Hazards() []chains.Hazard { return s.tx.hazardsOf(s.resolved(s.tx.briefly())) }

// hazardsOf returns the dangers of effects for a signer, or if it is none those that
// depend on no key.
func (tx *transaction) hazardsOf(effects []chains.Effect, signer chains.Party) []chains.Hazard {
	hazards, fees := tx.hazards(effects), effects
	if isTempo(tx.chainID) { // its own fee is in a token: see feeHazard
		fees = effects[:len(effects)-1]
	}
	hazards = append(hazards, evm.FeeHazards(Name, fees, signer, tx.limits.MaxFee)...)
	for _, hazard := range evm.Hazards(Name, effects, signer) {
		if index, _ := hazard.Effect(); strings.HasPrefix(effects[index].Path, "authorization ") {
			hazard.Name = HazardDelegation
		}
		hazards = append(hazards, hazard)
	}
	return hazards
}

// hazards returns the dangers of the transaction as a whole.
func (tx *transaction) hazards(effects []chains.Effect) []chains.Hazard {
	var h evm.HazardList
	if tx.chainID == 0 {
		h.Add(HazardNoChainID, "the transaction names no chain: once signed, it can be sent on every chain on which the account has funds")
	}
	if number := tx.authorizations.anyChain; number > 0 {
		h.Add(HazardAnyChainAuthorization, "authorization %d has chain id 0: it delegates the account on every chain", number)
	}
	if tx.creation && tx.data.Len() == 0 {
		h.Add(HazardEmptyCreation, "there is no recipient and no code: it would create an empty contract, and its value would be lost")
	}
	tx.limitHazards(&h)
	tx.neverIncluded(&h)
	tx.feeHazard(&h, len(effects)-1)
	return h
}

// limitHazards adds the hazards of gas and size.
func (tx *transaction) limitHazards(h *evm.HazardList) {
	if limit, capped := gasCaps[tx.chainID]; capped {
		if most := cmp.Or(tx.limits.GasCap, limit.most); tx.gas > most {
			h.Add(HazardGasOverCap, "gas %d is over the cap of %d (%s): the network does not include it", tx.gas, most, limit.fork)
		}
	}
	if size, most := tx.signedSize(), cmp.Or(tx.limits.MaxSize, DefaultMaxSize); size > most {
		h.Add(HazardOversize, "%d bytes once signed are over %d: nodes do not relay it", size, most)
	}
}

// feeHazard adds the hazard of the fee on Tempo, which points at its effect. There it is
// paid in a token, and known more exactly than the effect has it.
func (tx *transaction) feeHazard(h *evm.HazardList, index int) {
	if !isTempo(tx.chainID) {
		return
	}
	fee, _ := tx.maximumFee()
	if detail := evm.OverFee(tx.chainID, &fee, tx.limits.MaxFee); detail != "" {
		h.AddOn(index, HazardHighFee, "%s", detail)
	}
}

// signedSize returns the length of the signed transaction without blobs, with a
// signature of the greatest length.
func (tx *transaction) signedSize() int {
	items := tx.items.Len() + rlp.UintSize(tx.v(1)) + 33 + 33
	size := rlp.ListHeaderSize(items) + items
	if tx.kind != typeLegacy {
		size++
	}
	return size
}

// maxInitCode is the longest code that creates a contract (EIP-3860), before Amsterdam
// and after it (EIP-7954).
const (
	maxInitCode          = 2 * 24576
	maxInitCodeAmsterdam = 2 * 65536
)

// neverIncluded adds the hazard of what no node of the chain accepts, by the rules of
// its active fork. Nodes of other chains than Ethereum's own and the OP stack may count
// gas in another way.
func (tx *transaction) neverIncluded(h *evm.HazardList) {
	if isTempo(tx.chainID) && tx.value.Len() > 0 {
		h.Add(HazardNeverIncluded, "there is no native asset on Tempo: no node accepts a value")
	}
	if tx.kind == typeBlob && tx.blobFeeCap.Len() == 0 {
		h.Add(HazardNeverIncluded, "maxFeePerBlobGas is 0: the fee of a blob is at least 1 wei")
	}
	if tx.sidecar.Len() > 0 && tx.sidecarV0 {
		h.Add(HazardNeverIncluded, "the sidecar is of version 0: pools require version 1 since Osaka (EIP-7594)")
	}
	fork, ok := forkOf(tx.chainID)
	if !ok {
		return
	}
	if least := tx.leastGas(fork); tx.gas < least {
		h.Add(HazardNeverIncluded, "gas %d is below the %d that the transaction costs before it runs (%s)", tx.gas, least, fork.name)
	}
	if tx.creation && tx.data.Len() > fork.maxInitCode {
		h.Add(HazardNeverIncluded, "%d bytes of init code are over %d (%s)", tx.data.Len(), fork.maxInitCode, fork.name)
	}
}

// fork has the rules of a hard fork that decide which transactions are accepted.
type fork struct {
	name        string
	maxInitCode int
	amsterdam   bool
}

// forkOf returns the active fork of a chain, and whether it is known.
func forkOf(chainID uint64) (fork, bool) {
	switch {
	case chainID == 11155111:
		return fork{"Amsterdam", maxInitCodeAmsterdam, true}, true
	case gasCaps[chainID].most == DefaultGasCap || opStack[chainID] && chainID != 42220:
		return fork{"Osaka", maxInitCode, false}, true
	}
	return fork{}, false
}

// Gas that a transaction costs before it runs.
const (
	gasTransaction = 21000
	gasCreation    = 32000
	gasByte        = 16
	gasZeroByte    = 4
	gasInitWord    = 2     // EIP-3860
	gasAddress     = 2400  // EIP-2930
	gasStorageKey  = 1900  // EIP-2930
	gasDelegation  = 25000 // EIP-7702
	gasFloorToken  = 10    // EIP-7623

	// Amsterdam: the minimum over senders (EIP-2780).
	gasAmsterdam = 12000
)

// leastGas returns the intrinsic gas or the floor of the calldata, whichever is more.
// In Amsterdam it depends on the sender, and leastGas returns the minimum over senders.
func (tx *transaction) leastGas(f fork) uint64 {
	if f.amsterdam {
		return gasAmsterdam
	}
	zero := uint64(0)
	data := tx.data.Of(tx.raw)
	for _, b := range data {
		if b == 0 {
			zero++
		}
	}
	other := uint64(len(data)) - zero
	gas := gasTransaction + other*gasByte + zero*gasZeroByte
	if tx.creation {
		gas += gasCreation + (uint64(len(data))+31)/32*gasInitWord
	}
	gas += uint64(tx.accessList.Addresses)*gasAddress + uint64(tx.accessList.StorageKeys)*gasStorageKey
	gas += uint64(tx.authorizations.count) * gasDelegation
	return max(gas, gasTransaction+gasFloorToken*(4*other+zero))
}
