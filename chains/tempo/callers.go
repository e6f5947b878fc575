package tempo

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller. Where the sender has signed, the calls are not by
// the signature that is asked for, and there are none to read.
func (tx *transaction) Calls() (calls []chains.Call) {
	if tx.sender != nil {
		return nil
	}
	network := tx.network()
	for number, c := range tx.calls.all(tx.raw) {
		if c.creation {
			continue
		}
		for _, call := range tx.readCall(network, c).Calls() {
			call.Path = fmt.Sprintf("call %d of %d/%s", number, tx.calls.count, call.Path)
			calls = append(calls, call)
		}
	}
	return calls
}
