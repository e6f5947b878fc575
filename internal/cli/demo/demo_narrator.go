package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// Narrator prints what the demo does, in colour where that is wanted.
type Narrator struct {
	Out      io.Writer
	Colour   bool
	chapters int
	err      error // the first error of writing
}

func newNarrator(out io.Writer) *Narrator {
	return &Narrator{Out: out, Colour: terminal.WantsColour(out)}
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

func (n *Narrator) begin() {
	n.printf("Countersign signs only what it can read. It parses every byte of a transaction, says what\n" +
		"a signature would do, refuses what is malformed or dangerous, and signs exactly the bytes\n" +
		"it read. This demo uses no network. Its keys, encrypted in a temporary keystore, are gone\n" +
		"when it ends: send nothing to their addresses.\n")
}

func (n *Narrator) chapter(title string) {
	n.chapters++
	n.printf("\n%s\n", n.style(Bold, fmt.Sprintf("%d. %s", n.chapters, title)))
}

func (n *Narrator) text(text string) { n.printf("   %s\n", text) }

// line prints a labelled value.
func (n *Narrator) line(label, value string) { n.labelled(Dim, label, value) }

// maxShown is the number of characters of a long hex string in an excerpt.
const maxShown = 64

// excerpt prints a labelled hex string, and cuts it if it is long.
func (n *Narrator) excerpt(label, text string) {
	if len(text) > maxShown {
		text = fmt.Sprintf("%s… (%d bytes)", text[:maxShown], len(text)/2)
	}
	n.line(label, text)
}

// good prints a check that passed.
func (n *Narrator) good(label, value string) { n.labelled(Green, label, value) }

// bad prints a refusal.
func (n *Narrator) bad(label, value string) { n.labelled(Red, label, value) }

// refused prints a refusal that a client got, with its reason.
func (n *Narrator) refused(err error) {
	if refusal, ok := errors.AsType[*activity.Error](err); ok {
		n.bad("refused", refusal.Message+" ("+string(refusal.Reason)+")")
	}
}

// checked verifies a signed transaction and prints what the check found.
func (n *Narrator) checked(chain Chain, signed string, pub keystore.PublicKey) error {
	found, err := chain.Check(signed, pub)
	if err != nil {
		return fmt.Errorf("check the signature: %w", err)
	}
	n.good("checked", found)
	return nil
}

const (
	labelWidth = 9
	valueWidth = 82 // where long values are broken into lines
)

func (n *Narrator) labelled(style, label, value string) {
	indent := strings.Repeat(" ", 3+labelWidth+2)
	n.printf("   %s  %s\n", n.style(style, fmt.Sprintf("%-*s", labelWidth, label)), strings.Join(wrapWords(value, valueWidth), "\n"+indent))
}

// wrapWords breaks a text into lines at spaces. A longer word gets a line of its own.
func wrapWords(text string, width int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// show prints what render writes, indented and coloured like the rest.
func (n *Narrator) show(render func(io.Writer) error) error {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		n.printf("   %s", n.field(line))
	}
	return nil
}

// field colours the label of a field, which two spaces separate from its value. A line
// without a value is the title of the fields below it.
func (n *Narrator) field(line string) string {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	label, value, found := strings.Cut(text, "  ")
	if !found {
		return indent + n.style(Bold, strings.TrimSuffix(text, "\n")) + "\n"
	}
	return indent + n.style(Dim, label) + "  " + value
}

func (n *Narrator) end(took time.Duration) {
	n.printf("\nDone in %.1f s, and the keystore is removed. To continue with keys that stay:\n"+
		"   countersign keys generate --keystore file:keys --curve secp256k1\n"+
		"With a server of your own:\n"+
		"   countersign init DIR\n", took.Seconds())
}
