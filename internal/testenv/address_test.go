package testenv_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestFreeAddress: no address is given twice while a test has it.
func TestFreeAddress(t *testing.T) {
	given := map[string]bool{}
	for range 300 {
		address := testenv.FreeAddress(t)
		if given[address] {
			t.Fatalf("%s is given twice", address)
		}
		given[address] = true
	}
}
