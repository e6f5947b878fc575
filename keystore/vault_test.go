package keystore

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"
)

func TestVaultReusesSlots(t *testing.T) {
	own := &slabs{free: map[int][][]byte{}}
	first := own.take(20)
	if len(first) != 20 || cap(first) != slotUnit {
		t.Fatalf("took %d bytes of %d, want 20 of %d", len(first), cap(first), slotUnit)
	}
	copy(first, "twenty bytes of text")
	own.giveBack(first)
	again := own.take(32)
	if unsafe.SliceData(again) != unsafe.SliceData(first) {
		t.Error("the slot that was given back is not taken next")
	}
	if !bytes.Equal(again, make([]byte, 32)) {
		t.Errorf("the slot still holds %q", again)
	}
}

func TestVaultSizes(t *testing.T) {
	own := &slabs{free: map[int][][]byte{}}
	for _, size := range []int{0, 1, 31, 32, 33, 64, 65, 4096, slabSize, slabSize + 1, 3 * slabSize} {
		slot := own.take(size)
		if len(slot) != size || cap(slot) < size || cap(slot)%slotUnit != 0 || cap(slot) >= size+2*slotUnit {
			t.Errorf("for %d bytes: a slice of %d of %d", size, len(slot), cap(slot))
		}
		if !bytes.Equal(slot, make([]byte, size)) {
			t.Errorf("for %d bytes: not zeroed", size)
		}
		own.giveBack(slot)
	}
}

// TestVaultSlotsAreApart fills every slot of several slabs and checks that none was overwritten.
func TestVaultSlotsAreApart(t *testing.T) {
	own := &slabs{free: map[int][][]byte{}}
	var slots [][]byte
	for i := range 3 * slabSize / slotUnit {
		slot := own.take(slotUnit)
		for at := range slot {
			slot[at] = byte(i + i>>8)
		}
		slots = append(slots, slot)
	}
	for i, slot := range slots {
		if !bytes.Equal(slot, bytes.Repeat([]byte{byte(i + i>>8)}, slotUnit)) {
			t.Fatalf("slot %d was overwritten", i)
		}
	}
	// Appending must not write beyond the end of a slot.
	grown := append(slots[0], 0xff)
	if unsafe.SliceData(grown) == unsafe.SliceData(slots[0]) {
		t.Error("a slot grows into the next")
	}
}

func TestVaultConcurrently(t *testing.T) {
	own := &slabs{free: map[int][][]byte{}}
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			for round := range 200 {
				slot := own.take(32 * (1 + round%3))
				mark := bytes.Repeat([]byte{byte(worker + 1)}, len(slot))
				copy(slot, mark)
				if !bytes.Equal(slot, mark) {
					t.Error("two goroutines have the same slot")
				}
				own.giveBack(slot)
			}
		})
	}
	done.Wait()
}
