package ur

import (
	"crypto/subtle"
	"errors"
	"hash/crc32"
	"math/bits"
)

// mix XORs b into a. They have the same length.
func mix(a, b []byte) { subtle.XORBytes(a, a, b) }

// row is an equation: the XOR of the fragments in set is data.
type row struct {
	set  []uint64 // bit i of word i/64: fragment i
	data []byte
}

func (r *row) add(other *row) {
	for i, word := range other.set {
		r.set[i] ^= word
	}
	mix(r.data, other.data)
}

// lowest returns the first fragment in the set, starting at the word of fragment from, or -1.
func (r *row) lowest(from int) int {
	for i := from / 64; i < len(r.set); i++ {
		if r.set[i] != 0 {
			return 64*i + bits.TrailingZeros64(r.set[i])
		}
	}
	return -1
}

// solver solves for the fragments by Gaussian elimination. It keeps at most one row per lowest
// fragment, so that its memory is bounded by count × (count/8 + fragment) bytes and a part costs at
// most count additions. Unlike peeling, it is complete as soon as the parts determine the message.
type solver struct {
	rows []*row
	rank int
}

// add adds an equation, which it retains, and reports whether it was independent.
func (s *solver) add(new *row) bool {
	for column := new.lowest(0); column >= 0; column = new.lowest(column) {
		if s.rows[column] == nil {
			s.rows[column] = new
			s.rank++
			return true
		}
		new.add(s.rows[column])
	}
	return false
}

// solve returns the concatenated fragments of a complete solver, by back substitution.
func (s *solver) solve() []byte {
	for row := len(s.rows) - 1; row >= 0; row-- {
		r := s.rows[row]
		for above := next(r.set, row); above >= 0; above = next(r.set, above) {
			mix(r.data, s.rows[above].data)
		}
	}
	var whole []byte
	for _, r := range s.rows {
		whole = append(whole, r.data...)
	}
	return whole
}

// next returns the first member of a set that is greater than the given one, or -1.
func next(set []uint64, than int) int {
	for i := than + 1; i < 64*len(set); {
		if word := set[i/64] >> (i % 64); word != 0 {
			return i + bits.TrailingZeros64(word)
		}
		i = (i/64 + 1) * 64
	}
	return -1
}

var errMessageChecksum = errors.New("the parts do not match the checksum of their message: starting over")

type fountain struct {
	first  *part // has what all parts agree on
	choose *chooser
	solver *solver
}

func newFountain(first *part) *fountain {
	count := int(first.Count)
	return &fountain{first, newChooser(count, first.Checksum), &solver{rows: make([]*row, count)}}
}

func (f *fountain) add(p *part) {
	equation := &row{make([]uint64, ceil(len(f.solver.rows), 64)), append([]byte(nil), p.Data...)}
	for _, index := range f.choose.choose(p.Number) {
		equation.set[index/64] |= 1 << (index % 64)
	}
	f.solver.add(equation)
}

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
