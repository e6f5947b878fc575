package workload

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
)

// Chain returns a chain by name, with default limits.
func Chain(name string) chains.Chain {
	for _, chain := range all.Chains(all.Limits{}) {
		if chain.Name() == name {
			return chain
		}
	}
	panic("workload: no chain " + name)
}

// Kinds returns the measured types of transactions of all chains. Within a chain, common
// types come first.
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
	for _, size := range solanaSizes {
		kinds = append(kinds, solanaKind(size))
	}
	for _, spend := range Spends {
		kinds = append(kinds, Bitcoin(spend, 1))
	}
	return kinds
}

// solanaSizes are sizes of transactions in bytes: a transfer, a token transfer, a swap,
// the maximum of legacy and v0, and the maximum of v1.
var solanaSizes = []int{215, 300, 812, 1232, 4096}

// Spends are the types of Bitcoin outputs that are spent, by name.
var Spends = []string{"P2WPKH", "P2TR", "P2PKH"}

// Find returns a kind by its name, such as ethereum/eip1559.
func Find(name string) Kind {
	for _, kind := range Kinds() {
		if kind.Name() == name {
			return kind
		}
	}
	panic("workload: no kind " + name)
}

// OnePerChain returns each chain's transfer, for benchmarks in which all kinds would be
// too many. Bitcoin has two, one of each signature scheme.
func OnePerChain() []Kind {
	return []Kind{
		Find("ethereum/eip1559"), Find("solana/215"), Find("tron/transfer"),
		Find("bitcoin/P2WPKH"), Find("bitcoin/P2TR"), Find("tempo/transfer"),
	}
}

func solanaType(size int) string { return fmt.Sprint(size) }
