package source

import (
	"strconv"
	"unicode"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// MaxQuoted is how many bytes of a file's text an error quotes.
const MaxQuoted = 64

func quoted(text string) string { return plaintext.Shorten(text, MaxQuoted) }

// spelt is quoted for a name that was to be one of ours, which are all in ASCII: other letters
// look alike, or show nothing.
func spelt(name string) string {
	for _, r := range name {
		if r > unicode.MaxASCII {
			return strconv.QuoteToASCII(quoted(name))
		}
	}
	return quoted(name)
}

// Meant appends ": did you mean …?" to a message if one of the names is close.
func Meant(message, name string, names []string) string {
	return plaintext.Meant(message, name, names, "")
}
