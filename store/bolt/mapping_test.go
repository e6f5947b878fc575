package bolt

import "testing"

// TestMapping: a file has room to grow before a snapshot can stop a writer, whatever its size.
func TestMapping(t *testing.T) {
	for _, size := range []int64{0, 1 << 20, leastMapping / 4, leastMapping, mostMapping / 4} {
		if got := mapping("linux", size); got < leastMapping || int64(got) < 4*size {
			t.Errorf("%d bytes are mapped for a file of %d", got, size)
		}
	}
	if got := mapping("linux", mostMapping); got != mostMapping {
		t.Errorf("%d bytes are mapped for a file of that size, at most %d can be", got, mostMapping)
	}
	if got := mapping("windows", 1<<20); got != 0 {
		t.Errorf("bbolt would make the file %d bytes long", got)
	}
}
