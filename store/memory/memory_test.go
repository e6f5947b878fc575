package memory_test

import (
	"testing"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(testing.TB) store.Store { return memory.New(0) },
	})
}
