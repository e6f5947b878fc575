package signing

import (
	"encoding/hex"
	"testing"
)

// TestEncodeHex compares every byte at every place of four, and every length, with encoding/hex.
func TestEncodeHex(t *testing.T) {
	raw := make([]byte, 4+256+3)
	for i := range raw {
		raw[i] = byte(i)
	}
	for first := range 4 {
		for last := first; last <= len(raw); last++ {
			if got, want := encodeHex(raw[first:last]), hex.EncodeToString(raw[first:last]); got != want {
				t.Fatalf("%d to %d: got %s, want %s", first, last, got, want)
			}
		}
	}
}
