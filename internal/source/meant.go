package source

import "github.com/countersign-dev/countersign/internal/plaintext"

// MaxQuoted is how many bytes of a file's text an error quotes.
const MaxQuoted = 64

func quoted(text string) string { return plaintext.Shorten(text, MaxQuoted) }

// Meant appends ": did you mean …?" to a message if one of the names is close.
func Meant(message, name string, names []string) string {
	return plaintext.Meant(message, name, names, "")
}
