package tempo

import "github.com/countersign-dev/countersign/chains"

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller. If the sender has signed already, the calls are not
// made by the signature that is requested, and it returns none.
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
			call.Path = tx.callPath(number) + call.Path
			calls = append(calls, call)
		}
	}
	return calls
}
