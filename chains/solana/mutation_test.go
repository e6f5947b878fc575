package solana_test

import (
	"bytes"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/solana"
)

// TestMutations changes every byte of valid transactions in many ways. What is
// accepted of it must be what solana-go, which sees it as fields, encodes to the
// same bytes, and what its Sanitize passes.
func TestMutations(t *testing.T) {
	for name, raw := range scenes(t) {
		t.Run(name, func(t *testing.T) {
			accepted := 0
			for i := range raw {
				mutations := [][]byte{
					bytes.Join([][]byte{raw[:i], raw[i+1:]}, nil), // delete
					raw[:i], // truncate
					bytes.Join([][]byte{raw[:i], {0}, raw[i:]}, nil),      // insert
					bytes.Join([][]byte{raw[:i], {0x80}, raw[i:]}, nil),   // insert
					bytes.Join([][]byte{raw[:i], {raw[i]}, raw[i:]}, nil), // double
					bytes.Join([][]byte{raw[:i], {0xff}, raw[i+1:]}, nil), // replace
					bytes.Join([][]byte{raw[:i], {raw[i] + 1}, raw[i+1:]}, nil),
				}
				for bit := range 8 {
					mutations = append(mutations, bytes.Join([][]byte{raw[:i], {raw[i] ^ 1<<bit}, raw[i+1:]}, nil))
				}
				for _, mutated := range mutations {
					if checkMutation(t, mutated) {
						accepted++
					}
				}
			}
			if accepted == 0 {
				t.Error("nothing was accepted: the test says nothing")
			}
		})
	}
}

// checkMutation reports whether the bytes are accepted.
func checkMutation(t *testing.T, raw []byte) bool {
	t.Helper()
	if _, err := solana.New(solana.Limits{}).Parse(raw); err != nil {
		return false
	}
	if again := reencode(t, raw); !bytes.Equal(again, raw) {
		t.Errorf("accepted %x\nwhich is      %x", raw, again)
	}
	tx, err := sdk.TransactionFromBytes(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Sanitize(); err != nil {
		t.Errorf("accepted %x\nand solana-go: %v", raw, err)
	}
	return true
}
