package ethereum

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (tx *transaction) network() chains.Network {
	return evm.NamedNetwork(tx.chainID, evm.NetworkID(tx.chainID))
}

func isTempo(chainID uint64) bool { return evm.TempoName(chainID) != "" }
