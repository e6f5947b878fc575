package solana

import (
	"math"
	"math/bits"

	"github.com/countersign-dev/countersign/chains"
)

// configField shows what a v1 message asks for. What it leaves out is shown as
// the zero that it means.
func (t *Transaction) configField() chains.Field {
	limit := func(label, unit string, bit uint32, value uint32) chains.Field {
		field := chains.Integer(label, uint64(value))
		field.Symbol = unit
		if t.config.mask&bit == 0 {
			field.Note = "not set"
		}
		return field
	}
	heap := limit("heap size", "bytes", maskHeapSize, max(t.config.heapSize, minHeapSize))
	return chains.List("compute budget",
		lamportsField("priority fee", t.config.priorityFee),
		limit("compute unit limit", "", maskComputeUnitLimit, t.config.computeUnitLimit),
		limit("loaded accounts data size limit", "bytes", maskLoadedDataLimit, t.config.loadedDataLimit),
		heap,
	)
}

// maxComputeUnits is the most that a transaction gets, whatever it asks for.
const maxComputeUnits = 1_400_000

// budgetField shows the limit and the price that instructions of the Compute
// Budget program set in a legacy or v0 transaction.
func (t *Transaction) budgetField() (chains.Field, bool) {
	limit, hasLimit := t.budget(setComputeUnitLimit, 4)
	price, hasPrice := t.budget(setComputeUnitPrice, 8)
	budget := chains.List("compute budget")
	if hasLimit {
		budget.Fields = append(budget.Fields, chains.Integer("compute unit limit", limit))
	}
	if hasPrice {
		field := chains.Integer("compute unit price", price)
		field.Symbol = "micro-lamports"
		budget.Fields = append(budget.Fields, field)
	}
	if hasLimit && hasPrice {
		budget.Fields = append(budget.Fields, lamportsField("priority fee", priorityFee(limit, price)))
	}
	return budget, hasLimit || hasPrice
}

// budget returns the value, of size bytes, that an instruction of the Compute
// Budget program sets. There can be one such instruction: the network refuses
// two.
func (t *Transaction) budget(number byte, size int) (value uint64, ok bool) {
	for _, in := range t.instructions {
		data := t.data(in)
		if t.programID(in) != computeID || len(data) < 1+size || data[0] != number {
			continue
		}
		for i := range size {
			value |= uint64(data[1+i]) << (8 * i)
		}
		return value, true
	}
	return 0, false
}

// priorityFee is limit·price, rounded up from micro-lamports to lamports.
func priorityFee(limit, price uint64) uint64 {
	high, low := bits.Mul64(min(limit, maxComputeUnits), price)
	low, carry := bits.Add64(low, 999_999, 0)
	high += carry
	if high >= 1_000_000 {
		return math.MaxUint64
	}
	fee, _ := bits.Div64(high, low, 1_000_000)
	return fee
}
