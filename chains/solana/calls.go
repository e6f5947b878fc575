package solana

import (
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.Caller = (*Transaction)(nil)

// Calls implements chains.Caller: one call for each instruction. Its accounts are
// those of the instruction, unknown where they stand in lookup tables.
func (t *Transaction) Calls() []chains.Call {
	calls := make([]chains.Call, 0, len(t.instructions))
	for i, in := range t.instructions {
		call := chains.Call{
			Path: "instructions/" + strconv.Itoa(i), Chain: Name, From: party(t.key(0)), To: party(t.key(t.program(in))),
			Data: t.raw[in.dataAt : in.dataAt+in.size],
		}
		for _, given := range t.accountsOf(in, nil) {
			if given.address == nil {
				call.Accounts = append(call.Accounts, chains.UnknownParty())
				continue
			}
			call.Accounts = append(call.Accounts, party(given.address))
		}
		calls = append(calls, call)
	}
	return calls
}
