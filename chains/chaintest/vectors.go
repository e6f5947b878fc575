package chaintest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Vectors decodes each file that matches a pattern of filepath.Glob into a V. Keys are file
// names without ".json". At least one file must match.
func Vectors[V any](t testing.TB, pattern string) map[string]V {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no vectors in %s: %v", pattern, err)
	}
	vectors := map[string]V{}
	for _, path := range paths {
		var vector V
		ReadJSON(t, path, &vector)
		vectors[strings.TrimSuffix(filepath.Base(path), ".json")] = vector
	}
	return vectors
}

// ReadJSON decodes a JSON file.
func ReadJSON(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
