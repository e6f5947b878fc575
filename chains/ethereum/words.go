package ethereum

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// Words implements chains.Chain.
func (Chain) Words() chains.Words {
	words := evm.Words()
	words.Variable, words.Details = "eth", append([]chains.Detail{
		{Name: "to", Type: chains.TypeAddress},
		{Name: "value", Type: chains.TypeAmount},
		{Name: "chain_id", Type: chains.TypeInteger},
		{Name: "nonce", Type: chains.TypeInteger},
		{Name: "gas", Type: chains.TypeInteger},
		{Name: "gas_price", Type: chains.TypeAmount},
		{Name: "max_fee_per_gas", Type: chains.TypeAmount},
		{Name: "max_priority_fee_per_gas", Type: chains.TypeAmount},
		{Name: "max_fee", Type: chains.TypeAmount},
	}, evm.FunctionDetails()...)
	return words
}
