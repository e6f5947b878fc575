package memory_test

import (
	"fmt"

	"github.com/countersign-dev/countersign/store/memory"
)

// A store of 64 MiB. When it is full of activities that can still be asked for,
// it refuses new ones.
func ExampleNew() {
	records := memory.New(64 << 20)
	defer records.Close()
	fmt.Println(records.Used())
	// Output: 0
}
