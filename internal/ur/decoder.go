package ur

import (
	"crypto/subtle"
	"errors"
	"hash/crc32"
	"math/bits"
)

// mix adds b to a, by XOR. They have the same length.
func mix(a, b []byte) { subtle.XORBytes(a, a, b) }

// row is an equation: the XOR of the fragments in a set is the data.
type row struct {
	set  []uint64 // bit i of word i/64: fragment i
	data []byte
}

// add adds another row, by XOR.
func (r *row) add(other *row) {
	for i, word := range other.set {
		r.set[i] ^= word
	}
	mix(r.data, other.data)
}

// lowest returns the first fragment in the set from a given word on, -1 if the
// set is empty.
func (r *row) lowest(from int) int {
	for i := from / 64; i < len(r.set); i++ {
		if r.set[i] != 0 {
			return 64*i + bits.TrailingZeros64(r.set[i])
		}
	}
	return -1
}

// solver solves for the fragments by Gauss elimination. It keeps at most one row
// for each fragment, that whose lowest fragment it is, so that its memory is
// bounded by count × (count/8 + fragment) bytes and a part costs at most count
// additions. Unlike peeling, it is done as soon as the parts determine the
// message.
type solver struct {
	rows []*row
	rank int
}

func newSolver(count int) *solver { return &solver{rows: make([]*row, count)} }

// add adds an equation, which it keeps. It reports whether that was news.
func (s *solver) add(new *row) bool {
	for at := new.lowest(0); at >= 0; at = new.lowest(at) {
		if s.rows[at] == nil {
			s.rows[at] = new
			s.rank++
			return true
		}
		new.add(s.rows[at])
	}
	return false
}

func (s *solver) complete() bool { return s.rank == len(s.rows) }

// solve substitutes from the last row back and returns the fragments, one after
// the other. The solver is complete.
func (s *solver) solve() []byte {
	for at := len(s.rows) - 1; at >= 0; at-- {
		r := s.rows[at]
		for above := next(r.set, at); above >= 0; above = next(r.set, above) {
			mix(r.data, s.rows[above].data)
		}
	}
	var whole []byte
	for _, r := range s.rows {
		whole = append(whole, r.data...)
	}
	return whole
}

// next returns the first member of a set above another one, -1 if there is none.
func next(set []uint64, than int) int {
	for i := than + 1; i < 64*len(set); {
		if word := set[i/64] >> (i % 64); word != 0 {
			return i + bits.TrailingZeros64(word)
		}
		i = (i/64 + 1) * 64
	}
	return -1
}

// errMessageChecksum says that the parts of a message do not make it.
var errMessageChecksum = errors.New("the parts do not make the message that they name: reading it from the beginning")

// fountain puts one message together from its parts.
type fountain struct {
	first  *part // says what all parts agree in
	choose *chooser
	solver *solver
}

func newFountain(first *part) *fountain {
	count := int(first.Count)
	return &fountain{first, newChooser(count, first.Checksum), newSolver(count)}
}

// add adds a part of the message. It reports whether that was news.
func (f *fountain) add(p *part) bool {
	made := &row{make([]uint64, ceil(len(f.solver.rows), 64)), append([]byte(nil), p.Data...)}
	for _, at := range f.choose.choose(p.Number) {
		made.set[at/64] |= 1 << (at % 64)
	}
	return f.solver.add(made)
}

// message returns the message once it is complete.
func (f *fountain) message() ([]byte, error) {
	whole := f.solver.solve()
	length := int(f.first.Length)
	for _, padding := range whole[length:] {
		if padding != 0 {
			return nil, errMessageChecksum
		}
	}
	if crc32.ChecksumIEEE(whole[:length]) != f.first.Checksum {
		return nil, errMessageChecksum
	}
	return whole[:length:length], nil
}
