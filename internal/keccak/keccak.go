// Package keccak hashes with Keccak-256 without allocating: go-ethereum's
// implementation, behind a pool of states that have room for input and output.
// Through an interface, as go-ethereum has it, every slice that is hashed would
// move to the heap, and with it the array or struct that it is a part of.
package keccak

import (
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// hasher is a state, and the only memory that it ever sees.
type hasher struct {
	state  crypto.KeccakState
	input  [1088]byte // a multiple of the 136 bytes that Keccak-256 takes in at once
	digest [32]byte
}

var pool = sync.Pool{New: func() any { return &hasher{state: crypto.NewKeccakState()} }}

// Sum256 returns Keccak-256 over the parts, one behind the other.
func Sum256(parts ...[]byte) (digest [32]byte) {
	h := pool.Get().(*hasher)
	defer pool.Put(h)
	h.state.Reset()
	for _, part := range parts {
		for len(part) > 0 {
			n := copy(h.input[:], part)
			_, _ = h.state.Write(h.input[:n]) // a hash takes all, always
			part = part[n:]
		}
	}
	_, _ = h.state.Read(h.digest[:])
	return h.digest
}
