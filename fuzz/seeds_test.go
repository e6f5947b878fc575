package fuzz

import (
	"testing"

	"github.com/countersign-dev/countersign/fuzz/internal/corpus"
)

// addCorpus adds the committed corpus of a target to its seeds: what earlier
// runs of the fuzzer have found worth keeping. A target that has none yet is
// none the worse.
func addCorpus(f *testing.F) {
	f.Helper()
	entries, err := corpus.Read("testdata/corpus/" + f.Name() + corpus.Suffix)
	if err != nil {
		f.Fatal(err)
	}
	for _, entry := range entries {
		values, err := corpus.Values(entry.Data)
		if err != nil {
			f.Fatalf("%s: %v", entry.Name, err)
		}
		f.Add(values...)
	}
}
