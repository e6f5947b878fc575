package bolt_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/store/bolt"
)

// A store in a file, for one process on one machine. The engine closes it.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "countersign")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	records, err := bolt.Open(filepath.Join(folder, "state.db"))
	if err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: memory.New(), Store: records})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(engine.Close())
	// Output: <nil>
}
