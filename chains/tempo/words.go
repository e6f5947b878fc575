package tempo

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// Words implements chains.Chain. Tempo has no native asset; its amounts have the units of
// the chains whose namespace it shares.
func (c Chain) Words() chains.Words {
	words := evm.Words()
	words.Forms.Unsign = c.Unsign
	words.Unnamed = func(_ string, address []byte) bool {
		return len(address) == len(evm.Address{}) && evm.IsVirtual(evm.Address(address))
	}
	words.Variable, words.Details = "tempo", []chains.Detail{
		{Name: "calls", Type: chains.TypeList, Each: "call_", Part: "call",
			Members: append([]chains.Detail{{Name: "to", Type: chains.TypeAddress}}, evm.FunctionDetails()...)},
		{Name: "chain_id", Type: chains.TypeInteger},
		{Name: "nonce", Type: chains.TypeInteger},
		{Name: "fee_token", Type: chains.TypeAddress},
		{Name: "gas_limit", Type: chains.TypeInteger},
		{Name: "valid_before", Type: chains.TypeTime},
		{Name: "valid_after", Type: chains.TypeTime},
	}
	return words
}
