package memory_test

import (
	"testing"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/storetest"
)

// TestPlainContract runs the suite over a store of seven methods, as it would be over yours.
func TestPlainContract(t *testing.T) {
	storetest.Run(t, storetest.Harness{Open: func(testing.TB) store.Store { return struct{ store.Store }{memory.New(0)} }})
}
