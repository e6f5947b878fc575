package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// narrator tells the story of the demonstration, in colour where that is wanted.
type narrator struct {
	out      io.Writer
	colour   bool
	chapters int
	err      error // the first of writing
}

func newNarrator(out io.Writer) *narrator {
	return &narrator{out: out, colour: terminal.WantsColour(out)}
}

// Styles of text, as SGR parameters.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
)

func (n *narrator) style(parameters, text string) string {
	if !n.colour {
		return text
	}
	return "\x1b[" + parameters + "m" + text + "\x1b[0m"
}

func (n *narrator) printf(format string, args ...any) {
	if n.err == nil {
		_, n.err = fmt.Fprintf(n.out, format, args...)
	}
}

func (n *narrator) begin() {
	n.printf("Countersign reads a transaction, shows what it does, and signs the very bytes that\n" +
		"it read. Here it does so on this machine, without a network, with keys that are\n" +
		"gone in a moment: send nothing to their addresses.\n")
}

func (n *narrator) chapter(title string) {
	n.chapters++
	n.printf("\n%s\n", n.style(bold, fmt.Sprintf("%d. %s", n.chapters, title)))
}

func (n *narrator) text(text string) { n.printf("   %s\n", text) }

// line tells one thing.
func (n *narrator) line(label, value string) { n.labelled(dim, label, value) }

// maxShown is how much of a long hex string an excerpt shows.
const maxShown = 96

// excerpt tells a hex string, cut if it is long.
func (n *narrator) excerpt(label, text string) {
	if len(text) > maxShown {
		text = fmt.Sprintf("%s… (%d bytes)", text[:maxShown], len(text)/2)
	}
	n.line(label, text)
}

// good tells that something is as it should be.
func (n *narrator) good(label, value string) { n.labelled(green, label, value) }

// bad tells that something was stopped.
func (n *narrator) bad(label, value string) { n.labelled(red, label, value) }

func (n *narrator) labelled(style, label, value string) {
	n.printf("   %s  %s\n", n.style(style, fmt.Sprintf("%-9s", label)), value)
}

// show writes what render does, indented and coloured like the rest.
func (n *narrator) show(render func(io.Writer) error) error {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		n.printf("   %s", n.field(line))
	}
	return nil
}

// field colours the label of a field, which two spaces keep from its value; what
// has none is the title of those below it.
func (n *narrator) field(line string) string {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	label, value, found := strings.Cut(text, "  ")
	if !found {
		return indent + n.style(bold, strings.TrimSuffix(text, "\n")) + "\n"
	}
	return indent + n.style(dim, label) + "  " + value
}

func (n *narrator) end(took time.Duration) {
	n.printf("\nDone in %.1f s; the keystore is removed. To go on with keys that stay:\n"+
		"   countersign keys generate --keystore file:keys --curve CURVE_SECP256K1\n"+
		"With a server of your own: countersign init DIR\n", took.Seconds())
}
