package ethereum

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// networkOf returns what people call a chain with a CAIP-2 id, and the unit of its fees.
// The chains of Tempo, which take transactions of Ethereum's types 0, 1, 2 and 4, have
// no native asset: gas is priced in 10⁻¹⁸ US dollars.
func networkOf(chainID uint64, id string) chains.Network {
	if name := evm.TempoName(chainID); name != "" {
		return chains.Network{Name: name, Symbol: "USD", Decimals: 18}
	}
	return chains.NetworkOf(id)
}

func (tx *transaction) network() chains.Network {
	return networkOf(tx.chainID, evm.NetworkID(tx.chainID))
}

func isTempo(chainID uint64) bool { return evm.TempoName(chainID) != "" }

// opStack are the chains that charge an L1 data fee in addition to gas (op-geth
// core/state_transition.go). It is not in the transaction.
var opStack = map[uint64]bool{10: true, 130: true, 480: true, 8453: true, 42220: true, 81457: true, 84532: true, 11155420: true}
