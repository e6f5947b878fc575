package ethereum

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (tx *transaction) network() chains.Network {
	return evm.NamedNetwork(tx.chainID, evm.NetworkID(tx.chainID))
}

func isTempo(chainID uint64) bool { return evm.TempoName(chainID) != "" }

// opStack are the chains that charge an L1 data fee in addition to gas (op-geth
// core/state_transition.go). It is not in the transaction.
var opStack = map[uint64]bool{10: true, 130: true, 480: true, 8453: true, 42220: true, 81457: true, 84532: true, 11155420: true}
