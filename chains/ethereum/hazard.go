package ethereum

import (
	"cmp"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
	"github.com/countersign-dev/countersign/keystore"
)

// The hazards of Ethereum transactions.
const (
	HazardNoChainID             = "ethereum/no-chain-id"             // legacy without EIP-155
	HazardAnyChainAuthorization = "ethereum/any-chain-authorization" // EIP-7702 with chain id 0
	HazardEmptyCreation         = "ethereum/empty-creation"          // no "to" and no data
	HazardGasOverCap            = "ethereum/gas-over-cap"            // over Limits.GasCap (EIP-7825)
	HazardOversize              = "ethereum/oversize"                // over Limits.MaxSize
)

// cappedChains are Ethereum's own chains, which EIP-7825 holds for: mainnet,
// Holesky, Sepolia, Hoodi.
var cappedChains = map[uint64]bool{1: true, 17000: true, 11155111: true, 560048: true}

// Hazards implements chains.Transaction. None depends on the signer.
func (tx *transaction) Hazards(keystore.PublicKey) []chains.Hazard {
	var hazards []chains.Hazard
	add := func(name, detail string, args ...any) {
		hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf(detail, args...)})
	}
	if tx.chainID == 0 {
		add(HazardNoChainID, "the transaction names no chain: once signed, it can be sent on every chain on which the account has funds")
	}
	if number := tx.authorizations.anyChain; number > 0 {
		add(HazardAnyChainAuthorization, "authorization %d has chain id 0: it delegates the account on every chain", number)
	}
	if tx.creation && tx.data.Len() == 0 {
		add(HazardEmptyCreation, "there is no recipient and no code: it would create an empty contract, and its value would be lost")
	}
	if gasCap := cmp.Or(tx.limits.GasCap, DefaultGasCap); tx.gas > gasCap && cappedChains[tx.chainID] {
		add(HazardGasOverCap, "gas %d is over the cap of %d (EIP-7825): the network does not include it", tx.gas, gasCap)
	}
	if size, most := tx.signedSize(), cmp.Or(tx.limits.MaxSize, DefaultMaxSize); size > most {
		add(HazardOversize, "%d bytes once signed are over %d: nodes do not relay it", size, most)
	}
	return hazards
}

// signedSize is the length of the signed transaction without blobs, with a
// signature at its longest.
func (tx *transaction) signedSize() int {
	items := tx.items.Len() + rlp.UintSize(tx.v(1)) + 33 + 33
	size := rlp.ListHeaderSize(items) + items
	if tx.kind != typeLegacy {
		size++
	}
	return size
}
