package solana

import "github.com/countersign-dev/countersign/chains"

var _ chains.Caller = (*Transaction)(nil)

// Calls implements chains.Caller: one call for each instruction. Accounts from lookup
// tables that are not known are unknown.
func (t *Transaction) Calls() []chains.Call {
	calls := make([]chains.Call, 0, len(t.instructions))
	for i, in := range t.instructions {
		call := chains.Call{
			Path: instructionPaths[i], Chain: Name, From: party(t.key(0)), To: party(t.key(t.program(in))),
			Data: t.data(in),
		}
		for _, given := range t.accountsOf(in, nil) {
			call.Accounts = append(call.Accounts, given.party())
		}
		calls = append(calls, call)
	}
	return calls
}
