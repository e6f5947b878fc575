package docs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestKindsExplained checks that effects.md explains each kind of effect.
func TestKindsExplained(t *testing.T) {
	page := read(t, "effects.md")
	for _, kind := range chains.Kinds() {
		if !strings.Contains(page, "| `"+string(kind)+"` |") {
			t.Errorf("effects.md does not explain the kind %s", kind)
		}
	}
}

// TestKindsInGoldenFiles checks that a golden file has every kind of effect of
// transactions and messages. One-time passwords have no summary.
func TestKindsInGoldenFiles(t *testing.T) {
	paths, err := filepath.Glob("../chains/*/testdata/summary/*.txt")
	testenv.Must(t, err)
	more, err := filepath.Glob("../internal/cli/testdata/script/messages_*.txtar")
	testenv.Must(t, err)
	seen := map[chains.Kind]int{}
	for _, path := range append(paths, more...) {
		text := read(t, path)
		for _, kind := range chains.Kinds() {
			seen[kind] += strings.Count(text, `"kind":"`+string(kind)+`"`)
		}
	}
	for _, kind := range chains.Kinds() {
		if seen[kind] == 0 && kind != chains.KindOTP {
			t.Errorf("no golden file has an effect of kind %s", kind)
		}
	}
}
