package store

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// The version is the first byte of both encodings. It is 2 if a charge has a slot, and then
// an older program refuses the limit:
//
//	tally    1 ‖ last 8 ‖ n × { at 8 ‖ length 1 ‖ amount }
//	         2 ‖ last 8 ‖ n × { slot 32 ‖ at 8 ‖ length 1 ‖ amount }
//	receipt  1 ‖ n × { kind 1 ‖ id 32 ‖ at 8 ‖ window 8 ‖ length 1 ‖ amount }
//	         2 ‖ n × { slot 32 ‖ kind 1 ‖ id 32 ‖ at 8 ‖ window 8 ‖ length 1 ‖ amount }
//
// Numbers are big-endian; times and windows are in milliseconds. A slot of zeros is none.
const (
	chargeVersion = 1
	slotVersion   = 2
)

var errDamaged = fmt.Errorf("%w: the counts of a limit are damaged, or were written by a newer version", ErrUnavailable)

func (t *tally) encode() []byte {
	version, size := byte(chargeVersion), 9+20*len(t.counts)
	if len(t.slots) > 0 {
		version, size = slotVersion, 9+52*(len(t.counts)+len(t.slots))
	}
	out := binary.BigEndian.AppendUint64(append(make([]byte, 0, size), version), uint64(t.last))
	for _, counted := range t.counts {
		if counted.amount.Sign() > 0 {
			out = counted.append(appendSlot(out, version, [32]byte{}))
		}
	}
	for _, counted := range t.slots {
		out = counted.append(appendSlot(out, version, counted.slot))
	}
	return out
}

func (c count) append(out []byte) []byte {
	return appendAmount(binary.BigEndian.AppendUint64(out, uint64(c.at)), c.amount)
}

func appendSlot(out []byte, version byte, slot [32]byte) []byte {
	if version == chargeVersion {
		return out
	}
	return append(out, slot[:]...)
}

func parseTally(in []byte) (t tally, err error) {
	if len(in) == 0 {
		return t, nil
	}
	r := amountReader{in: in}
	if !r.readVersion() {
		return t, errDamaged
	}
	t.last = r.int64()
	for len(r.in) > 0 && !r.short {
		charge := slotted{r.slot(), count{r.int64(), r.amount()}}
		if charge.slot == ([32]byte{}) {
			t.counts = append(t.counts, charge.count)
		} else {
			t.slots = append(t.slots, charge)
		}
	}
	return t, r.err()
}

func (r receipt) encode() []byte {
	version := byte(chargeVersion)
	if slices.ContainsFunc(r, func(counted charge) bool { return counted.slot != [32]byte{} }) {
		version = slotVersion
	}
	out := []byte{version}
	for _, counted := range r {
		out = append(appendSlot(out, version, counted.slot), counted.limit.Bytes()...)
		out = binary.BigEndian.AppendUint64(out, uint64(counted.at))
		out = binary.BigEndian.AppendUint64(out, uint64(counted.window.Milliseconds()))
		out = appendAmount(out, counted.amount)
	}
	return out
}

func parseReceipt(in []byte) (parsed receipt, err error) {
	if len(in) == 0 {
		return nil, nil
	}
	r := amountReader{in: in}
	if !r.readVersion() {
		return nil, errDamaged
	}
	for len(r.in) > 0 && !r.short {
		read := charge{slot: r.slot()}
		kind := Kind(r.take(1)[0])
		read.limit, read.at = Key{kind, [32]byte(r.take(32))}, r.int64()
		window := r.int64()
		if window < MinWindow.Milliseconds() || window > MaxWindow.Milliseconds() {
			return nil, errDamaged
		}
		read.window, read.amount = time.Duration(window)*time.Millisecond, r.amount()
		parsed = append(parsed, read)
	}
	return parsed, r.err()
}

func appendAmount(out []byte, amount *big.Int) []byte {
	magnitude := amount.Bytes()
	return append(append(out, byte(len(magnitude))), magnitude...)
}

// amountReader reads both encodings. Past the end it reads zeros and sets short.
type amountReader struct {
	in      []byte
	version byte
	short   bool
}

// readVersion reads the version, and reports whether it is known.
func (r *amountReader) readVersion() bool {
	r.version = r.take(1)[0]
	return r.version == chargeVersion || r.version == slotVersion
}

// slot reads a slot, which version 1 does not have.
func (r *amountReader) slot() (slot [32]byte) {
	if r.version == slotVersion {
		slot = [32]byte(r.take(32))
	}
	return slot
}

func (r *amountReader) take(n int) []byte {
	if n > len(r.in) {
		r.short, r.in = true, nil
		return make([]byte, n)
	}
	taken := r.in[:n]
	r.in = r.in[n:]
	return taken
}

func (r *amountReader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }

func (r *amountReader) amount() *big.Int {
	return new(big.Int).SetBytes(r.take(int(r.take(1)[0])))
}

func (r *amountReader) err() error {
	if r.short {
		return errDamaged
	}
	return nil
}
