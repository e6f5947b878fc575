package plaintext

import "strings"

// maxMeant is the length of the longest name that is compared with others, in bytes.
const maxMeant = 128

// minBeginning is the length of the shortest beginning of a name that is taken for it.
const minBeginning = 3

// nearest returns the name that a misspelt one or a beginning may have meant; ok is false if none is
// close.
func nearest(name string, names []string) (match string, ok bool) {
	for _, candidate := range names {
		if len(name) >= minBeginning && strings.HasPrefix(candidate, name) {
			return candidate, true
		}
	}
	best := len(name)/3 + 2
	for _, candidate := range names {
		if distance := editDistance(name, candidate, best); distance < best {
			match, best, ok = candidate, distance, true
		}
	}
	return match, ok
}

// editDistance counts the bytes to change, insert or delete, up to a bound.
func editDistance(a, b string, bound int) int {
	if len(a) > maxMeant || len(b)-len(a) >= bound || len(a)-len(b) >= bound {
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

// Meant appends ": did you mean …?" to a message if one of the names is close, otherwise a
// colon and what else to do, if that is not empty.
func Meant(message, name string, names []string, otherwise string) string {
	if near, ok := nearest(name, names); ok {
		return message + ": did you mean " + near + "?"
	}
	if otherwise == "" {
		return message
	}
	return message + ": " + otherwise
}
