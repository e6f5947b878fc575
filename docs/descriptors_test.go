package docs_test

import (
	"log"
	"os"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// engineWithDescriptors is the code of descriptors.md.
func engineWithDescriptors(keys keystore.Keystore, pins *descriptors.Pins) *countersign.Engine {
	folder, err := descriptors.Open(os.DirFS("descriptors"), descriptors.Options{Pins: pins})
	if err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, Descriptors: folder})
	if err != nil {
		log.Fatal(err)
	}
	return engine
}

func TestEngineWithDescriptors(t *testing.T) {
	t.Chdir(t.TempDir())
	testenv.Must(t, os.Mkdir("descriptors", 0o755))
	if err := engineWithDescriptors(memory.New(), nil).Close(); err != nil {
		t.Error(err)
	}
}
