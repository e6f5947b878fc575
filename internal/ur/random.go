package ur

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

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
