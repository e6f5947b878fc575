package tron

import "github.com/countersign-dev/countersign/chains"

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller.
func (tx *transaction) Calls() []chains.Call {
	if tx.contract.message != triggerSmartContract {
		return nil
	}
	return tx.call(network).Calls()
}
