package policy

import (
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
)

// shorten quotes as many bytes of a request's text as errors quote of a file's.
func shorten(text string) string { return plaintext.Shorten(text, source.MaxQuoted) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
