package policy

import (
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/internal/yamlfile"
)

// maxQuoted is how many bytes of a file's or a request's text an error quotes.
const maxQuoted = yamlfile.MaxQuoted

func shorten(text string) string { return yamlfile.Shorten(text) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// meant appends ": did you mean …?" to a message if one of the names is close.
func meant(message, name string, names []string) string { return yamlfile.Meant(message, name, names) }
