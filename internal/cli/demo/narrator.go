package demo

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Narrator prints what the demo does, in colour where that is wanted.
type Narrator struct {
	Out      io.Writer
	Colour   bool
	chapters int
	err      error // the first error of writing
}

// Styles of text, as SGR parameters.
const (
	Bold  = "1"
	Dim   = "2"
	Red   = "31"
	Green = "32"
)

func (n *Narrator) style(parameters, text string) string {
	if !n.Colour {
		return text
	}
	return "\x1b[" + parameters + "m" + text + "\x1b[0m"
}

func (n *Narrator) printf(format string, args ...any) {
	if n.err == nil {
		_, n.err = fmt.Fprintf(n.Out, format, args...)
	}
}

func (n *Narrator) chapter(title string) {
	n.chapters++
	n.printf("\n%s\n", n.style(Bold, fmt.Sprintf("%d. %s", n.chapters, title)))
}

// maxShown is the number of characters of a long hex string in an excerpt.
const maxShown = 64

func (n *Narrator) excerpt(label, text string) {
	if len(text) > maxShown {
		text = fmt.Sprintf("%s… (%d bytes)", text[:maxShown], len(text)/2)
	}
	n.line(Dim, label, text)
}

const (
	labelWidth = 9
	valueWidth = 82 // where long values are broken into lines
)

// line prints a value behind a label in a style, and breaks it into lines at spaces.
func (n *Narrator) line(style, label, value string) {
	indent := strings.Repeat(" ", 3+labelWidth+2)
	var text strings.Builder
	column := 0
	for word := range strings.SplitSeq(value, " ") {
		width := utf8.RuneCountInString(word)
		switch {
		case column > 0 && column+1+width > valueWidth:
			text.WriteString("\n" + indent)
			column = 0
		case column > 0:
			text.WriteByte(' ')
			column++
		}
		text.WriteString(word)
		column += width
	}
	n.printf("   %s  %s\n", n.style(style, fmt.Sprintf("%-*s", labelWidth, label)), &text)
}

// show prints what render writes, indented and coloured like the rest. Two spaces separate
// the label of a field from its value; a line without a value is the title of those below.
func (n *Narrator) show(render func(io.Writer) error) error {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		written := strings.TrimLeft(line, " ")
		label, value, found := strings.Cut(strings.TrimSuffix(written, "\n"), "  ")
		styled := n.style(Bold, label)
		if found {
			styled = n.style(Dim, label) + "  " + value
		}
		n.printf("   %*s%s\n", len(line)-len(written), "", styled)
	}
	return nil
}
