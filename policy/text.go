package policy

import (
	"maps"
	"slices"
)

// maxQuoted is how much of a text that is not ours an error quotes, in bytes.
const maxQuoted = 64

func shorten(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return text[:maxQuoted] + "…"
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// nearest returns the name that a misspelt one may have meant; ok is false if
// none is near.
func nearest(name string, names []string) (found string, ok bool) {
	best := len(name)/3 + 2
	for _, candidate := range names {
		if distance := editDistance(name, candidate, best); distance < best {
			found, best, ok = candidate, distance, true
		}
	}
	return found, ok
}

// editDistance counts the letters to change, add or take away, up to a bound.
func editDistance(a, b string, bound int) int {
	if len(a) > 2*maxQuoted || len(b)-len(a) >= bound || len(a)-len(b) >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// meant appends ": did you mean …?" to a message where a name is near.
func meant(message, name string, names []string) string {
	if near, ok := nearest(name, names); ok {
		return message + ": did you mean " + near + "?"
	}
	return message
}
