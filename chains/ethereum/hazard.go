package ethereum

import (
	"cmp"
	"math"
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

func (tx *transaction) HazardsOf(effects []chains.Effect, signer chains.Party) []chains.Hazard {
	hazards, fees := tx.formHazards(), effects
	if isTempo(tx.chainID) { // its own fee is in a token, and known more exactly than the effect has it
		fee, _ := tx.maximumFee()
		if detail := evm.OverFee(tx.chainID, &fee, tx.limits.MaxFee); detail != "" {
			hazards.AddOn(len(effects)-1, HazardHighFee, "%s", detail)
		}
		fees = effects[:len(effects)-1]
	}
	hazards = append(hazards, evm.FeeHazards(Name, fees, signer, tx.limits.MaxFee)...)
	for _, hazard := range evm.Hazards(Name, effects, signer) {
		if index, _ := hazard.Effect(); index < len(effects) && strings.HasPrefix(effects[index].Path,
			"authorization ") {
			hazard.Name = HazardDelegation
		}
		hazards = append(hazards, hazard)
	}
	return hazards
}

// formHazards returns those that do not depend on what the transaction does.
func (tx *transaction) formHazards() (h evm.HazardList) {
	if tx.chainID == 0 {
		h.Add(HazardNoChainID, "the transaction names no chain: once signed, it can be sent on every chain on "+
			"which the account has funds")
	}
	if number := tx.authorizations.anyChain; number > 0 {
		h.Add(HazardAnyChainAuthorization, "authorization %d has chain id 0: it delegates the account on every chain",
			number)
	}
	if tx.creation && tx.data.Len() == 0 {
		h.Add(HazardEmptyCreation, "there is no recipient and no code: it would create an empty contract, and its "+
			"value would be lost")
	}
	tx.limitHazards(&h)
	tx.neverIncluded(&h)
	return h
}

func (tx *transaction) limitHazards(h *evm.HazardList) {
	known := chainRules[tx.chainID]
	most := known.most // the largest gas that some fork includes
	for i := range known.forks {
		most = max(most, known.forks[i].maxGas)
	}
	if gasCap := cmp.Or(tx.limits.GasCap, most); known.capped && tx.gas > gasCap {
		source := known.source
		switch {
		case tx.limits.GasCap != 0:
			source = "as configured"
		case len(known.forks) > 0:
			source = known.each(func(f *fork) (string, uint64) { return f.gasSource + ", " + f.name, f.maxGas })
		}
		h.Add(HazardGasOverCap, "gas %d is over the cap of %d (%s): the network does not include it", tx.gas, gasCap,
			source)
	}
	items := tx.items.Len() + rlp.UintSize(tx.v(1)) + 33 + 33 // without blobs, with the longest signature
	size := rlp.ListHeaderSize(items) + items
	if tx.kind != typeLegacy {
		size++
	}
	if most := cmp.Or(tx.limits.MaxSize, DefaultMaxSize); size > most {
		h.Add(HazardOversize, "%d bytes once signed are over %d: nodes do not relay it", size, most)
	}
}

// neverIncluded adds the hazard of what no node of the chain accepts, now or after a fork
// that its software has already.
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
	known := chainRules[tx.chainID]
	if len(known.forks) == 0 {
		return
	}
	least, longest := uint64(math.MaxUint64), 0 // of the fork that asks least
	for i := range known.forks {
		least = min(least, known.forks[i].prices.of(tx))
		longest = max(longest, known.forks[i].maxInitCode)
	}
	if tx.gas < least {
		each := known.each(func(f *fork) (string, uint64) { return f.name, f.prices.of(tx) })
		h.Add(HazardNeverIncluded, "gas %d is below the %d that the transaction costs before it runs (%s)", tx.gas,
			least, each)
	}
	if tx.creation && tx.data.Len() > longest {
		each := known.each(func(f *fork) (string, uint64) { return f.name, uint64(f.maxInitCode) })
		h.Add(HazardNeverIncluded, "%d bytes of init code are over %d (%s)", tx.data.Len(), longest, each)
	}
}
