package ur

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

// chooser determines which fragments of a message each part contains.
type chooser struct {
	count    int
	checksum uint32
	degrees  *sampler
	scratch  []int
}

func newChooser(count int, checksum uint32) *chooser {
	weights := make([]float64, count)
	for i := range weights {
		weights[i] = 1 / float64(i+1)
	}
	return &chooser{count, checksum, newSampler(weights), make([]int, count)}
}

// choose returns the fragments of a part by its number, in the order drawn. The first
// parts, numbered from 1, contain one fragment each. How many the later ones contain,
// and which, comes from a generator seeded with
//
//	number (4 bytes) ‖ CRC-32 of the message (4 bytes), both big-endian
//
// The result is valid until the next call.
func (c *chooser) choose(number uint32) []int {
	if number >= 1 && uint64(number) <= uint64(c.count) {
		c.scratch[0] = int(number) - 1
		return c.scratch[:1]
	}
	seed := binary.BigEndian.AppendUint32(nil, number)
	from := newRandom(binary.BigEndian.AppendUint32(seed, c.checksum))
	degree := c.degrees.draw(from) + 1
	return c.shuffle(degree, from)
}

// shuffle draws degree fragments without replacement. The remaining ones keep their
// order, as in the specification.
func (c *chooser) shuffle(degree int, from *random) []int {
	remaining := make([]int, c.count)
	for i := range remaining {
		remaining[i] = i
	}
	for i := range degree {
		j := from.below(len(remaining))
		c.scratch[i] = remaining[j]
		remaining = slices.Delete(remaining, j, j+1)
	}
	return c.scratch[:degree]
}

// sampler draws numbers with given probabilities, by the alias method of Walker and
// Vose in the order of BCR-2024-001. Its results decide which fragments are mixed, so it
// must round as every other implementation does: an explicit conversion prevents each
// product from being fused into a sum.
type sampler struct {
	probability []float64
	alias       []int
}

// newSampler returns a sampler for weights, at least one of which is positive.
func newSampler(weights []float64) *sampler {
	n := len(weights)
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	scaled := make([]float64, n)
	var small, large []int
	for i := n - 1; i >= 0; i-- {
		scaled[i] = float64(weights[i]*float64(n)) / sum
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	s := &sampler{make([]float64, n), make([]int, n)}
	for len(small) > 0 && len(large) > 0 {
		low, high := pop(&small), pop(&large)
		s.probability[low], s.alias[low] = scaled[low], high
		scaled[high] += float64(scaled[low] - 1)
		if scaled[high] < 1 {
			small = append(small, high)
		} else {
			large = append(large, high)
		}
	}
	for _, rest := range [...][]int{large, small} { // small is nonempty only because of rounding
		for _, i := range rest {
			s.probability[i] = 1
		}
	}
	return s
}

func pop(stack *[]int) int {
	last := len(*stack) - 1
	top := (*stack)[last]
	*stack = (*stack)[:last]
	return top
}

// draw returns a number from 0 to n−1.
func (s *sampler) draw(from *random) int {
	first, second := from.fraction(), from.fraction()
	drawn := index(first, len(s.probability))
	if second < s.probability[drawn] {
		return drawn
	}
	return s.alias[drawn]
}

// random is xoshiro256**. Sender and receiver seed it alike, so that they agree on what
// a part contains.
type random [4]uint64

// newRandom returns a generator whose state is the SHA-256 of the seed, big-endian.
func newRandom(seed []byte) *random {
	digest := sha256.Sum256(seed)
	var r random
	for i := range r {
		r[i] = binary.BigEndian.Uint64(digest[8*i:])
	}
	return &r
}

func (r *random) next() uint64 {
	result := bits.RotateLeft64(r[1]*5, 7) * 9
	shifted := r[1] << 17
	r[2] ^= r[0]
	r[3] ^= r[1]
	r[1] ^= r[2]
	r[0] ^= r[3]
	r[2] ^= shifted
	r[3] = bits.RotateLeft64(r[3], 45)
	return result
}

// fraction returns a number from 0 to 1. It can be 1, since the conversion rounds.
func (r *random) fraction() float64 { return float64(r.next()) / (1 << 64) }

// below returns an integer from 0 to n−1.
func (r *random) below(n int) int { return index(r.fraction(), n) }

// index maps a fraction to an integer from 0 to n−1. The explicit conversion prevents
// the product from being fused into another operation.
func index(fraction float64, n int) int { return min(int(float64(fraction*float64(n))), n-1) }
