package structures_test

import (
	"os"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestTypeTable compares the structures that are known with testdata/types.txt, which
// COUNTERSIGN_UPDATE=1 writes: the summaries of messages depend on it.
func TestTypeTable(t *testing.T) {
	table := strings.Join(structures.Types(), "\n") + "\n"
	const path = "testdata/types.txt"
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		testenv.Write(t, path, []byte(table))
	}
	want := testenv.Read(t, path)
	if table != string(want) {
		t.Errorf("%s differs: run the test with COUNTERSIGN_UPDATE=1", path)
	}
}
