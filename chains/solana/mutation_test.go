package solana_test

import (
	"bytes"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestMutations changes every byte of valid transactions in many ways. solana-go must
// decode every mutant that is accepted, encode it to the same bytes, and pass it in its
// Sanitize.
func TestMutations(t *testing.T) {
	for name, raw := range scenes(t) {
		t.Run(name, func(t *testing.T) {
			accepted := 0
			for mutant := range chaintest.Mutants(raw, []byte{0, 0x80, 0xff}) {
				if checkMutation(t, mutant) {
					accepted++
				}
			}
			// A signature that is already there covers every other byte.
			if none := accepted == 0; none != (name == "partly_signed") {
				t.Errorf("%d mutants were accepted", accepted)
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
	testenv.Must(t, err)
	if err := tx.Sanitize(); err != nil {
		t.Errorf("accepted %x\nand solana-go: %v", raw, err)
	}
	return true
}
