package tempo

import (
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
)

// call is one of the calls that a transaction makes, all or none:
//
//	[to, value, input]
type call struct {
	to       evm.Address
	creation bool
	value    rlp.Span
	input    rlp.Span
}

func (tx *transaction) readCalls(f *rlp.Fields) {
	at := f.At()
	list := f.List("calls")
	count := list.Count()
	switch {
	case count < 0: // reading on finds what is malformed
	case count == 0:
		f.Fail("calls", at, "is empty: a transaction makes at least one call")
	case count > maxCalls:
		f.Fail("calls", at, "%d calls: %d at most", count, maxCalls)
	case count == 1:
		tx.calls = tx.single[:0]
	default:
		tx.calls = make([]call, 0, count)
	}
	for f.Err() == nil && list.More() {
		tx.readCall(&list)
	}
	f.Join(&list)
}

func (tx *transaction) readCall(list *rlp.Fields) {
	tuple := list.List("call")
	at := tuple.At()
	to, present := tuple.OptionalAddress("to")
	if !present && len(tx.calls) > 0 {
		tuple.Fail("to", at, "is empty: only the first call can create a contract")
	}
	c := call{to: to, creation: !present, value: tuple.Uint256("value"), input: tuple.String("input")}
	list.Join(&tuple)
	tx.calls = append(tx.calls, c)
}

// creates reports whether the transaction creates a contract.
func (tx *transaction) creates() bool { return len(tx.calls) > 0 && tx.calls[0].creation }
