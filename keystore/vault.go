package keystore

import (
	"os"
	"sync"
	"unsafe"
)

// vault holds the bytes of secrets in slabs outside the Go heap, where neither the garbage
// collector nor a heap dump sees them. Each slab is divided into slots of equal size. A slot is
// overwritten when it is given back, and then reused.
var vault = &slabs{free: map[int][][]byte{}}

type slabs struct {
	mu   sync.Mutex
	free map[int][][]byte // by slot size
}

// slabSize is a multiple of every system's page size; 64 KiB holds 2,048 keys.
const slabSize = 64 << 10

// slotUnit is the granularity of slot sizes: the size of a key's secret.
const slotUnit = 32

// take returns a zeroed slice of the given length.
func (s *slabs) take(length int) []byte {
	size := slotSize(length)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free[size]) == 0 {
		page := os.Getpagesize()
		slab := lockedPages(max(slabSize, (size+page-1)/page*page))
		for start := 0; start+size <= len(slab); start += size {
			s.free[size] = append(s.free[size], slab[start:start+size:start+size])
		}
	}
	last := len(s.free[size]) - 1
	slot := s.free[size][last]
	s.free[size] = s.free[size][:last]
	return slot[:length:size]
}

func slotSize(length int) int { return (max(length, 1) + slotUnit - 1) / slotUnit * slotUnit }

// giveBack overwrites a slice that take returned and frees its slot.
func (s *slabs) giveBack(slot []byte) {
	size := slotSize(len(slot))
	slot = unsafe.Slice(unsafe.SliceData(slot), size)
	clear(slot)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[size] = append(s.free[size], slot)
}
