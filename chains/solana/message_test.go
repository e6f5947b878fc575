package solana_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/solana"
)

// TestComplete takes a transaction as it is, and gives its message empty slots.
func TestComplete(t *testing.T) {
	for _, version := range versions {
		raw := simple(version, 3).bytes()
		for what, given := range map[string][]byte{"transaction": raw, "message": parse(t, raw).Message()} {
			if whole, err := (solana.Chain{}).Complete(given); err != nil || !bytes.Equal(whole, raw) {
				t.Errorf("%v, %s: %x, %v", version, what, whole, err)
			}
		}
	}
	for _, neither := range [][]byte{nil, {1}, {0x80, 0xff}, bytes.Repeat([]byte{7}, 200)} {
		if whole, err := (solana.Chain{}).Complete(neither); err == nil || !strings.Contains(err.Error(), "neither a transaction nor the message of one") {
			t.Errorf("%x: %x, %v", neither, whole, err)
		}
	}
}
