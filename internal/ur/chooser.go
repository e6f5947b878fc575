package ur

import (
	"encoding/binary"
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
