package edwards25519

import (
	"testing"

	"github.com/oasisprotocol/curve25519-voi/curve"
)

// TestSmallOrder compares the table with the order that arithmetic finds: of its points,
// with either sign, and of points next to them.
func TestSmallOrder(t *testing.T) {
	small := 0
	for _, y := range smallOrder {
		for _, sign := range []byte{0, 0x80} {
			for delta := range byte(8) {
				encoded := y
				encoded[0] ^= delta
				encoded[31] |= sign
				var point curve.EdwardsPoint
				compressed := curve.CompressedEdwardsY(encoded)
				if _, err := point.SetCompressedY(&compressed); err != nil {
					continue
				}
				if point.IsSmallOrder() {
					small++
				}
				if got := SmallOrder(encoded[:]); got != point.IsSmallOrder() {
					t.Errorf("%x: %v, want %v", encoded, got, point.IsSmallOrder())
				}
			}
		}
	}
	if small < 2*len(smallOrder) {
		t.Errorf("only %d encodings of small order were compared", small)
	}
}
