// Package keccak hashes with Keccak-256 without allocating: go-ethereum's
// implementation, behind a pool of states that have room for input and output.
// Through an interface, as go-ethereum has it, every slice that is hashed would
// move to the heap, and with it the array or struct that it is a part of.
package keccak

import (
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// hasher is a state, and memory of its own for what it is not to see where it is.
type hasher struct {
	state  crypto.KeccakState
	input  [2 * rate]byte
	digest [32]byte
}

// rate is the number of bytes that Keccak-256 takes in at once.
const rate = 136

var pool = sync.Pool{New: func() any { return &hasher{state: crypto.NewKeccakState()} }}

// Sum256 returns Keccak-256 over the parts, one behind the other.
func Sum256(parts ...[]byte) (digest [32]byte) {
	h := pool.Get().(*hasher)
	h.state.Reset()
	h.copyIn(parts)
	return h.sum()
}

// SumHeap256 returns Keccak-256 over the header and the parts behind it. The parts
// are hashed where they are, and so are moved to the heap if they are not there:
// it is for long ones that are, such as transactions.
func SumHeap256(header []byte, parts ...[]byte) (digest [32]byte) {
	h := pool.Get().(*hasher)
	h.state.Reset()
	h.copyIn([][]byte{header})
	for _, part := range parts {
		_, _ = h.state.Write(part) // a hash takes all, always
	}
	return h.sum()
}

func (h *hasher) copyIn(parts [][]byte) {
	for _, part := range parts {
		for len(part) > 0 {
			n := copy(h.input[:], part)
			_, _ = h.state.Write(h.input[:n])
			part = part[n:]
		}
	}
}

// sum returns the digest, and the hasher to the pool.
func (h *hasher) sum() [32]byte {
	_, _ = h.state.Read(h.digest[:])
	digest := h.digest
	pool.Put(h)
	return digest
}
