package solana

import (
	"encoding/binary"
	"fmt"
)

// The instructions of the Compute Budget program that a legacy or v0 transaction may
// have, each at most once.
const (
	requestHeapFrame    = 1
	setComputeUnitLimit = 2
	setComputeUnitPrice = 3
	setLoadedDataLimit  = 4
)

// computeProgram sets the limits and the price of a legacy or v0 transaction. The
// number of an instruction is a u8.
var computeProgram = &program{name: "Compute Budget", tagSize: 1, layouts: map[uint32]*layout{
	0: describe("RequestUnitsDeprecated", "", u32("compute units"),
		u32("additional fee in lamports")).doesNothing(),
	requestHeapFrame:    describe("RequestHeapFrame", "", u32("heap bytes")).doesNothing(),
	setComputeUnitLimit: describe("SetComputeUnitLimit", "", u32("compute units")).doesNothing(),
	setComputeUnitPrice: describe("SetComputeUnitPrice", "", u64("micro-lamports for a unit")).doesNothing(),
	setLoadedDataLimit:  describe("SetLoadedAccountsDataSizeLimit", "", u32("loaded data bytes")).doesNothing(),
}}

// checkBudget refuses what every node refuses before executing anything: an
// instruction of the Compute Budget program that does not exist, is repeated, or has
// a value out of range. In v1 these instructions do nothing.
func (m *message) checkBudget() error {
	if m.version == Version1 {
		return nil
	}
	var seen [setLoadedDataLimit + 1]bool
	for i, in := range m.instructions {
		if *m.programID(in) != computeID {
			continue
		}
		number, value, problem := readBudget(m.data(in))
		if problem == "" && seen[number] {
			problem = fmt.Sprintf("repeats instruction %d of the Compute Budget program", number)
		}
		if problem != "" {
			return within(malformed("data", in.dataAt, "%s: every node refuses it", problem), "instructions", i)
		}
		seen[number] = true
		switch number {
		case setComputeUnitLimit:
			m.budget.units, m.budget.unitsAreSet = value, true
		case setComputeUnitPrice:
			m.budget.price, m.budget.priceIsSet = value, true
		}
	}
	return nil
}

// readBudget reads an instruction's number and its value, which is little-endian.
func readBudget(data []byte) (number byte, value uint64, problem string) {
	if len(data) == 0 {
		return 0, 0, "is empty"
	}
	number = data[0]
	sizes := [...]int{requestHeapFrame: 4, setComputeUnitLimit: 4, setComputeUnitPrice: 8, setLoadedDataLimit: 4}
	if number == 0 || int(number) >= len(sizes) {
		return 0, 0, fmt.Sprintf("is instruction %d of the Compute Budget program, which does not exist", number)
	}
	size := sizes[number]
	if len(data) <= size {
		return 0, 0, fmt.Sprintf("has %d bytes, and instruction %d of the Compute Budget program needs %d", len(data),
			number, 1+size)
	}
	if value = uint64(binary.LittleEndian.Uint32(data[1:])); size == 8 {
		value = binary.LittleEndian.Uint64(data[1:])
	}
	switch {
	case number == requestHeapFrame && !validHeapSize(uint32(value)):
		return 0, 0, fmt.Sprintf("asks for a heap of %d bytes: it must be a multiple of %d from %d to %d",
			value, heapSizeUnit, minHeapSize, maxHeapSize)
	case number == setLoadedDataLimit && value == 0:
		return 0, 0, "sets a loaded accounts data size limit of 0"
	}
	return number, value, ""
}
