package rlp_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/internal/rlp"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestItems takes lists apart and puts them together again, and refuses what is not one list.
func TestItems(t *testing.T) {
	for text, want := range map[string]int{"c0": 0, "c3010280": 3, "c4c101c102": 2, "c88701020304050607": 1} {
		list := testenv.Hex(t, text)
		items, err := rlp.Items(list)
		if err != nil || len(items) != want || !bytes.Equal(rlp.AppendList(nil, items...), list) {
			t.Errorf("%s: %d items, %v", text, len(items), err)
		}
	}
	for _, text := range []string{"", "80", "c101ff", "c1", "c2810102", "c28101"} {
		if items, err := rlp.Items(testenv.Hex(t, text)); err == nil {
			t.Errorf("%s: %x", text, items)
		}
	}
}
