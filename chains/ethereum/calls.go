package ethereum

import "github.com/countersign-dev/countersign/chains"

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller.
func (tx *transaction) Calls() []chains.Call {
	if tx.creation {
		return nil
	}
	return tx.call(tx.contracts()).Calls()
}
