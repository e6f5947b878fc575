package evm

import (
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// hasher is a hash and what it reads from: the parts of its input are copied there, so that
// the caller's may be on its stack.
type hasher struct {
	state crypto.KeccakState
	room  [136]byte // what Keccak-256 absorbs at a time
}

var hashers = sync.Pool{New: func() any { return &hasher{state: crypto.NewKeccakState()} }}

// Keccak256 returns the Keccak-256 of what several parts are together. Unlike
// crypto.Keccak256Hash it allocates nothing. The parts are public: they are not wiped.
func Keccak256[T string | []byte](parts ...T) (sum [32]byte) {
	h := hashers.Get().(*hasher)
	h.state.Reset()
	for _, part := range parts {
		for len(part) > 0 {
			n := copy(h.room[:], part)
			_, _ = h.state.Write(h.room[:n]) // fails never
			part = part[n:]
		}
	}
	_, _ = h.state.Read(h.room[:len(sum)])
	sum = [32]byte(h.room[:])
	hashers.Put(h)
	return sum
}
