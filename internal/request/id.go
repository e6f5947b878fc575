package request

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// latestID is the time in the latest ID: milliseconds ‖ 12 bits of their fraction.
var latestID atomic.Uint64

// NewID returns a UUID of version 7 (RFC 9562): of the ids that one process makes, each is
// greater than those before it, whatever the clock does. It is uuid.NewV7 without a copy on
// the heap, and without an error: a system without randomness ends the program.
func NewID() string {
	var id uuid.UUID
	// With the fraction in 4096ths of a millisecond (RFC 9562, section 6.2, method 3).
	nanoseconds := uint64(time.Now().UnixNano())
	fresh := nanoseconds/1e6<<12 | nanoseconds%1e6<<12/1e6
	latest := latestID.Load()
	now := max(fresh, latest+1)
	for !latestID.CompareAndSwap(latest, now) {
		latest = latestID.Load()
		now = max(fresh, latest+1)
	}
	binary.BigEndian.PutUint64(id[:8], now>>12<<16|0x7000|now&0xfff)
	rand.Read(id[8:])
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
