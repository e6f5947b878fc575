package solana

import (
	"math"
	"math/bits"

	"github.com/countersign-dev/countersign/chains"
)

// What the network charges, and the compute units of a transaction that sets no limit.
const (
	lamportsPerSignature = 5_000
	maxComputeUnits      = 1_400_000 // of any transaction
	builtinUnits         = 3_000     // SIMD-0170: per instruction of a builtin program
	programUnits         = 200_000   // per instruction of any other
)

// DefaultMaxFee is the fee in lamports above which a transaction carries
// HazardHighFee: 0.1 SOL.
const DefaultMaxFee = 100_000_000

// fee is the most that a transaction can cost, in lamports.
type fee struct {
	signatures  uint64 // the header's and those that precompiles announce
	base        uint64
	priority    uint64
	units       uint64 // the compute-unit limit
	unitsAreSet bool
	price       uint64 // micro-lamports per unit; not in v1
	priceIsSet  bool
}

func (f fee) total() uint64 {
	total, carry := bits.Add64(f.base, f.priority, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return total
}

// fee adds up what the network charges: for every signature of the header, for every
// signature that an instruction of a precompile announces, valid or not, and the
// priority fee, which depends on the limit and not on the units used.
func (t *Transaction) fee() (f fee) {
	f.signatures = uint64(t.header.required) + t.announcedSignatures()
	f.base = f.signatures * lamportsPerSignature
	if t.version == Version1 {
		f.priority, f.units = t.config.priorityFee, uint64(t.config.computeUnitLimit)
		return f
	}
	f.units, f.unitsAreSet = t.budget(setComputeUnitLimit, 4)
	if !f.unitsAreSet {
		f.units = t.defaultUnits()
	}
	f.units = min(f.units, maxComputeUnits)
	f.price, f.priceIsSet = t.budget(setComputeUnitPrice, 8)
	f.priority = priorityFee(f.units, f.price)
	return f
}

// announcedSignatures counts the signatures that the instructions of the
// precompiles announce in their first byte.
func (t *Transaction) announcedSignatures() (count uint64) {
	for _, in := range t.instructions {
		if data := t.data(in); len(data) > 0 && isPrecompile(t.programID(in)) {
			count += uint64(data[0])
		}
	}
	return count
}

// defaultUnits returns an upper bound of the compute-unit limit of a transaction that
// sets none (SIMD-0170): programs that are no longer builtin everywhere count as others.
func (t *Transaction) defaultUnits() (units uint64) {
	for _, in := range t.instructions {
		if isBuiltin(t.programID(in)) {
			units += builtinUnits
		} else {
			units += programUnits
		}
	}
	return min(units, maxComputeUnits)
}

// feeField shows the most that is paid, and its parts.
func (t *Transaction) feeField() chains.Field {
	f := t.fee()
	list := chains.List("fee",
		lamportsField("at most", f.total()),
		lamportsField("base fee", f.base),
		chains.Integer("paid signatures", f.signatures))
	if t.version == Version1 {
		list.Fields = append(list.Fields, t.configFields()...)
		return list
	}
	list.Fields = append(list.Fields, lamportsField("priority fee", f.priority))
	limit := chains.Integer("compute unit limit", f.units)
	if !f.unitsAreSet {
		limit.Note = "not set: the network's default, at most"
	}
	list.Fields = append(list.Fields, limit)
	if f.priceIsSet {
		price := chains.Integer("compute unit price", f.price)
		price.Symbol = "micro-lamports"
		list.Fields = append(list.Fields, price)
	}
	return list
}

// configFields shows the configuration of a v1 message. A value that is left out is
// shown as zero, which is what it means.
func (t *Transaction) configFields() []chains.Field {
	limit := func(label, unit string, bit uint32, value uint32) chains.Field {
		field := chains.Integer(label, uint64(value))
		field.Symbol = unit
		if t.config.mask&bit == 0 {
			field.Note = "not set"
		}
		return field
	}
	return []chains.Field{
		lamportsField("priority fee", t.config.priorityFee),
		limit("compute unit limit", "", maskComputeUnitLimit, t.config.computeUnitLimit),
		limit("loaded accounts data size limit", "bytes", maskLoadedDataLimit, t.config.loadedDataLimit),
		limit("heap size", "bytes", maskHeapSize, max(t.config.heapSize, minHeapSize)),
	}
}

// budget returns the value, of size bytes, that an instruction of the Compute Budget
// program sets. checkBudget ensures that there is at most one such instruction.
func (t *Transaction) budget(number byte, size int) (value uint64, ok bool) {
	for _, in := range t.instructions {
		data := t.data(in)
		if *t.programID(in) != computeID || len(data) < 1+size || data[0] != number {
			continue
		}
		for i := range size {
			value |= uint64(data[1+i]) << (8 * i)
		}
		return value, true
	}
	return 0, false
}

// priorityFee returns limit·price, rounded up from micro-lamports to lamports.
func priorityFee(limit, price uint64) uint64 {
	high, low := bits.Mul64(limit, price)
	low, carry := bits.Add64(low, 999_999, 0)
	high += carry
	if high >= 1_000_000 {
		return math.MaxUint64
	}
	fee, _ := bits.Div64(high, low, 1_000_000)
	return fee
}
