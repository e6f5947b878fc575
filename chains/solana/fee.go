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

// DefaultMaxFee is the fee in lamports above which a transaction carries HazardHighFee: 0.1 SOL.
const DefaultMaxFee = 100_000_000

// fee is the most that a transaction can cost, in lamports.
type fee struct {
	signatures uint64 // the header's and those that precompiles announce
	base       uint64
	priority   uint64
	budget     // not in v1, but for the units
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
func (m *message) fee() (f fee) {
	f.signatures = uint64(m.header.required)
	var units uint64 // an upper bound of the limit of a transaction that sets none (SIMD-0170)
	for _, in := range m.instructions {
		id, data := *m.programID(in), m.data(in)
		// Clusters differ in which programs but these two are builtin: those count as the rest, which
		// costs more.
		if id == systemID || id == computeID {
			units += builtinUnits
		} else {
			units += programUnits
		}
		if len(data) > 0 && (id == ed25519ID || id == secp256k1ID || id == secp256r1ID) {
			f.signatures += uint64(data[0])
		}
	}
	f.base = f.signatures * lamportsPerSignature
	if m.version == Version1 {
		f.priority, f.units = m.config.priorityFee, uint64(m.config.computeUnitLimit)
		return f
	}
	if f.budget = m.budget; !f.unitsAreSet {
		f.units = units
	}
	f.units = min(f.units, maxComputeUnits)
	f.priority = priorityFee(f.units, f.price)
	return f
}

func (m *message) feeField() chains.Field {
	f := m.fee()
	list := chains.List("fee",
		lamportsField("at most", f.total()),
		lamportsField("base fee", f.base),
		chains.Integer("paid signatures", f.signatures))
	if m.version == Version1 {
		list.Fields = append(list.Fields, m.configFields()...)
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
func (m *message) configFields() []chains.Field {
	limit := func(label, unit string, bit uint32, value uint32) chains.Field {
		field := chains.Integer(label, uint64(value))
		field.Symbol = unit
		if m.config.mask&bit == 0 {
			field.Note = "not set"
		}
		return field
	}
	return []chains.Field{
		lamportsField("priority fee", m.config.priorityFee),
		limit("compute unit limit", "", maskComputeUnitLimit, m.config.computeUnitLimit),
		limit("loaded accounts data size limit", "bytes", maskLoadedDataLimit, m.config.loadedDataLimit),
		limit("heap size", "bytes", maskHeapSize, max(m.config.heapSize, minHeapSize)),
	}
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

// messageHazards returns the hazards that do not depend on which key signs.
func (m *message) messageHazards() (hazards []chains.Hazard) {
	if allZero(m.blockhash()) {
		hazards = append(hazards, chains.Hazard{
			Name:   HazardZeroBlockhash,
			Detail: "the blockhash is zero: fill in a recent one or a nonce before signing",
		})
	}
	detail, missing := "", "" // the limits that are missing or zero, so that the transaction cannot succeed
	switch {
	case m.version != Version1 && m.budget.unitsAreSet && m.budget.units == 0:
		detail = "the compute-unit limit is set to 0: the transaction fails at a fee"
	case m.version != Version1:
	case m.config.computeUnitLimit == 0 && m.config.loadedDataLimit == 0:
		missing = "no compute-unit limit and no loaded accounts data size limit"
	case m.config.computeUnitLimit == 0:
		missing = "no compute-unit limit"
	case m.config.loadedDataLimit == 0:
		missing = "no loaded accounts data size limit"
	}
	if missing != "" {
		detail = missing + ": in a v1 transaction that means zero, and it fails at a fee"
	}
	if detail != "" {
		hazards = append(hazards, chains.Hazard{Name: HazardNoComputeBudget, Detail: detail})
	}
	return hazards
}
