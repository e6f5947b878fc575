// Package plaintext is about text from outside that is shown to a person: whether it can
// be shown without hiding anything, and how much of it an error quotes.
package plaintext

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Problem says why bytes must not be shown, and so not signed, as text. It returns ""
// if they may: for UTF-8 without control characters other than tab, line feed and CR LF,
// and without marks that change the direction of writing.
func Problem(text []byte) string {
	if !utf8.Valid(text) {
		return "the message is not UTF-8"
	}
	for i := 0; i < len(text); {
		if text[i] >= ' ' && text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n' || r == '\t':
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return fmt.Sprintf("the message has the control character %U at byte %d", r, i)
		}
		i += size
	}
	return ""
}

// Visible reports whether a character of a name shows something, if only a space. Names are told
// apart by looking at them. Letters, marks and symbols that show nothing are printable in Go.
func Visible(r rune) bool {
	const emptyBraille = '\u2800'
	if r < utf8.RuneSelf {
		return r >= ' ' && r < 0x7f
	}
	return unicode.IsPrint(r) && r != emptyBraille && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Shorten truncates text that an error or a log line quotes to at most limit bytes, and
// marks the cut with an ellipsis. The text may be megabytes long.
func Shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Pattern is a regular expression that is compiled when it is first used: a process that needs none
// of a package's does not pay for them at its start. It is safe for concurrent use.
type Pattern struct{ compiled func() *regexp.Regexp }

// NewPattern returns the pattern of an expression. A wrong one panics at its first use.
func NewPattern(expression string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Regexp returns the expression, compiled.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString reports whether a text contains a match.
func (p *Pattern) MatchString(text string) bool { return p.compiled().MatchString(text) }
