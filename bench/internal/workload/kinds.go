package workload

import (
	"fmt"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

// Chain returns a chain by its name, with default limits.
func Chain(name string) chains.Chain {
	for _, chain := range countersign.Chains(countersign.Limits{}) {
		if chain.Name() == name {
			return chain
		}
	}
	panic("workload: no chain " + name)
}

// Kinds are the types of transactions that are measured, of all chains: the
// common ones first in each.
func Kinds() []Kind {
	kinds := []Kind{
		ethereumKind("eip1559", DynamicFeeTransfer),
		ethereumKind("eip155", legacyTransfer),
		ethereumKind("eip2930", accessListTransfer),
		ethereumKind("eip4844", blobTransfer),
		ethereumKind("eip7702", setCodeTransfer),
		{Chain: "tron", Type: "transfer", Transaction: tronTransfer},
		{Chain: "tron", Type: "trc20", Transaction: tronTRC20},
		{Chain: "tempo", Type: "transfer", Transaction: tempoTransfer},
		{Chain: "tempo", Type: "batch", Transaction: tempoBatch},
		{Chain: "tempo", Type: "sponsored", Transaction: tempoSponsored},
	}
	for _, size := range SolanaSizes {
		kinds = append(kinds, Solana(size))
	}
	for _, spend := range Spends {
		kinds = append(kinds, Bitcoin(spend, 1))
	}
	return kinds
}

// SolanaSizes are lengths of transactions in bytes: a transfer, a token
// transfer, a swap, the most of legacy and v0, the most of v1.
var SolanaSizes = []int{215, 300, 812, 1232, 4096}

// Spends are the types of Bitcoin outputs that are spent.
var Spends = []string{"P2WPKH", "P2TR", "P2PKH"}

// Find returns the kind of a name such as ethereum/eip1559.
func Find(name string) Kind {
	for _, kind := range Kinds() {
		if kind.Name() == name {
			return kind
		}
	}
	panic("workload: no kind " + name)
}

// OnePerChain are the kinds that stand for their chains where all types would
// be too many: each chain's transfer.
func OnePerChain() []Kind {
	return []Kind{
		Find("ethereum/eip1559"), Find("solana/215"), Find("tron/transfer"),
		Find("bitcoin/P2WPKH"), Find("bitcoin/P2TR"), Find("tempo/transfer"),
	}
}

func solanaType(size int) string { return fmt.Sprint(size) }
