package tempo

import (
	"iter"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// calls are what a transaction does, all or none. They were read and are not kept: the
// summary reads them again.
type calls struct {
	list    rlp.Span // header included
	count   int32
	creates bool  // the first creates a contract
	valued  int32 // the first with a value, counted from 1; 0 if none has
}

// call is one of them:
//
//	[to, value, input]
type call struct {
	to       evm.Address
	creation bool
	value    rlp.Span
	input    rlp.Span
}

func (tx *transaction) readCalls(f *rlp.Fields) {
	offset := f.At()
	list := f.List("calls")
	for ; list.More(); tx.calls.count++ {
		c := readCall(&list, tx.calls.count == 0)
		tx.calls.creates = tx.calls.creates || c.creation
		if c.value.Len() > 0 && tx.calls.valued == 0 {
			tx.calls.valued = tx.calls.count + 1
		}
	}
	f.Join(&list)
	switch count := tx.calls.count; {
	case count == 0:
		f.Fail("calls", offset, "is empty: a transaction makes at least one call")
	case count > maxCalls:
		f.Fail("calls", offset, "%d calls: %d at most", count, maxCalls)
	}
	tx.calls.list = rlp.Between(offset, f.At())
}

func readCall(list *rlp.Fields, first bool) (c call) {
	tuple := list.List("call")
	offset := tuple.At()
	to, present := tuple.OptionalAddress("to")
	if !present && !first {
		tuple.Fail("to", offset, "is empty: only the first call can create a contract")
	}
	c.to, c.creation = to, !present
	c.value = tuple.Uint256("value")
	offset = tuple.At()
	if c.input = tuple.String("input"); c.input.Len() > maxCallInput {
		tuple.Fail("input", offset, "%d bytes: %d at most", c.input.Len(), maxCallInput)
	}
	list.Join(&tuple)
	return c
}

// all yields the calls, counted from 1.
func (c calls) all(raw []byte) iter.Seq2[int, call] {
	return func(yield func(int, call) bool) {
		list := rlp.Open(Name, raw[:c.list.End], int(c.list.Start))
		for number := 1; list.More(); number++ {
			if !yield(number, readCall(&list, number == 1)) {
				return
			}
		}
	}
}
