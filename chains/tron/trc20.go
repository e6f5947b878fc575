package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (tx *transaction) call(pass *evm.Pass) *evm.Call {
	call := evm.Transaction{To: evm.Address(readAddress(tx.values[triggerContract].of(tx.raw))),
		Data: tx.values[triggerData].of(tx.raw)}
	if value := tx.values[triggerValue].number; value != 0 {
		call.Value = big.NewInt(value)
	}
	return pass.ReadFrom(evm.Address(tx.owner), call, false)
}

var _ chains.Caller = (*transaction)(nil)

func (tx *transaction) Calls() []chains.Call {
	if tx.contract.number != numberTrigger {
		return nil
	}
	return tx.call(network.Pass()).Calls()
}
