package psbt

import (
	"encoding/binary"
	"math"
)

// The least bytes that the maps of version 2 take: their required records and the 00 at the end.
const (
	minInputMap  = (1 + 1 + 1 + 32) + (1 + 1 + 1 + 4) + 1
	minOutputMap = (1 + 1 + 1 + 8) + (1 + 1 + 1) + 1
)

// defaultSequence is that of an input without PSBT_IN_SEQUENCE.
const defaultSequence = math.MaxUint32

// count reads a count, whose form was checked, and refuses one for which the bytes left have no room.
func (p *Packet) count(keyType uint64, left, least int) (int, error) {
	record := p.Global.Find(keyType)
	value := cursor{data: record.Value}
	count := value.compactSize()
	if count > uint64(left/least) {
		return 0, malformed(globalRules[keyType].name, record.ValueOffset(),
			"%d maps do not fit into the %d bytes that follow", count, left)
	}
	return int(count), nil
}

// computeLockTime computes the locktime by the rule of BIP-370. Of the kinds, height or
// time, that suit every input with a requirement, height is preferred, and of that kind
// the highest value that is required applies. Without a requirement the locktime is the
// fallback, and without a fallback 0.
func (p *Packet) computeLockTime() error {
	var height, time uint32
	heightFits, timeFits, constrained := true, true, false
	for i := range p.Inputs {
		byHeight, byTime := p.Inputs[i].Value(InRequiredHeightLocktime), p.Inputs[i].Value(InRequiredTimeLocktime)
		if byHeight == nil && byTime == nil {
			continue
		}
		constrained = true
		if heightFits = heightFits && byHeight != nil; heightFits {
			height = max(height, binary.LittleEndian.Uint32(byHeight))
		}
		if timeFits = timeFits && byTime != nil; timeFits {
			time = max(time, binary.LittleEndian.Uint32(byTime))
		}
		if !heightFits && !timeFits {
			return malformed(section{"input", i}.String(), p.Inputs[i].Offset,
				"its required locktime is of another kind (height or time) than that of an earlier input: no "+
					"locktime suits both")
		}
	}
	switch {
	case constrained && heightFits:
		p.LockTime = height
	case constrained:
		p.LockTime = time
	default:
		if fallback := p.Global.Value(GlobalFallbackLocktime); fallback != nil {
			p.LockTime = binary.LittleEndian.Uint32(fallback)
		}
	}
	return nil
}

// Unsigned returns the unsigned transaction, every input script empty and
// without witnesses. In version 0 it is a view over Raw.
func (p *Packet) Unsigned() []byte {
	if p.Version == Version0 {
		return p.Global.Value(GlobalUnsignedTx)
	}
	out := make([]byte, 0, 18+minInput*len(p.Inputs)+64*len(p.Outputs))
	out = binary.LittleEndian.AppendUint32(out, p.TxVersion)
	out = AppendCompactSize(out, uint64(len(p.Inputs)))
	for i := range p.Inputs {
		in := &p.Inputs[i]
		out = append(out, in.PreviousTxID[:]...)
		out = binary.LittleEndian.AppendUint32(out, in.OutputIndex)
		out = append(out, 0)
		out = binary.LittleEndian.AppendUint32(out, in.Sequence)
	}
	out = AppendCompactSize(out, uint64(len(p.Outputs)))
	for i := range p.Outputs {
		out = AppendTxOut(out, p.Outputs[i].Amount, p.Outputs[i].Script)
	}
	return binary.LittleEndian.AppendUint32(out, p.LockTime)
}
