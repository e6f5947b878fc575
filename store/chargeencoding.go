package store

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"time"
)

// chargeVersion is the first byte of both encodings:
//
//	tally    version 1 ‖ last 8 ‖ n × { at 8 ‖ length 1 ‖ amount }
//	receipt  version 1 ‖ n × { kind 1 ‖ id 32 ‖ at 8 ‖ window 8 ‖ length 1 ‖ amount }
//
// Numbers are big-endian; times and windows are in milliseconds.
const chargeVersion = 1

var errDamaged = fmt.Errorf("%w: the counts of a limit are damaged, or were written by a newer version", ErrUnavailable)

func (t *tally) encode() []byte {
	out := make([]byte, 0, 9+20*len(t.counts))
	out = binary.BigEndian.AppendUint64(append(out, chargeVersion), uint64(t.last))
	for _, one := range t.counts {
		if one.amount.Sign() > 0 {
			out = appendAmount(binary.BigEndian.AppendUint64(out, uint64(one.at)), one.amount)
		}
	}
	return out
}

func parseTally(in []byte) (t tally, err error) {
	if len(in) == 0 {
		return t, nil
	}
	r := amountReader{in: in}
	if r.take(1)[0] != chargeVersion {
		return t, errDamaged
	}
	t.last = r.int64()
	for len(r.in) > 0 && !r.short {
		t.counts = append(t.counts, count{r.int64(), r.amount()})
	}
	return t, r.err()
}

func (r receipt) encode() []byte {
	out := []byte{chargeVersion}
	for _, one := range r {
		out = append(out, one.limit.Bytes()...)
		out = binary.BigEndian.AppendUint64(out, uint64(one.at))
		out = binary.BigEndian.AppendUint64(out, uint64(one.window.Milliseconds()))
		out = appendAmount(out, one.amount)
	}
	return out
}

func parseReceipt(in []byte) (parsed receipt, err error) {
	if len(in) == 0 {
		return nil, nil
	}
	r := amountReader{in: in}
	if r.take(1)[0] != chargeVersion {
		return nil, errDamaged
	}
	for len(r.in) > 0 && !r.short {
		kind := Kind(r.take(1)[0])
		one := charge{limit: Key{kind, [32]byte(r.take(32))}, at: r.int64()}
		window := r.int64()
		if window < MinWindow.Milliseconds() || window > MaxWindow.Milliseconds() {
			return nil, errDamaged
		}
		one.window, one.amount = time.Duration(window)*time.Millisecond, r.amount()
		parsed = append(parsed, one)
	}
	return parsed, r.err()
}

func appendAmount(out []byte, amount *big.Int) []byte {
	magnitude := amount.Bytes()
	return append(append(out, byte(len(magnitude))), magnitude...)
}

// amountReader reads both encodings. Past the end it reads zeros and sets short.
type amountReader struct {
	in    []byte
	short bool
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
