package syntax

import (
	"strings"
	"unicode"
)

// Printable replaces line breaks, control characters and everything from U+2000 on but
// the ellipsis by spaces: there are the characters that are invisible or change the
// direction of text. The text comes from requests and files of others.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '…' || r < 0x2000 && unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
