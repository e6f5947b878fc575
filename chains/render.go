package chains

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineWidth is the width of wrapped text, in columns: no terminal is narrower and would
// wrap a line itself.
const lineWidth = 80

// maxLabel bounds a label, in characters: some come from the transaction.
const maxLabel = 48

// continued begins the second and further lines of a long text. No label begins with it,
// so that text of a transaction cannot look like a field.
const continued = "| "

// Render writes fields in readable form, one per line, with the fields of a list indented. Text
// from the transaction cannot fake lines: anything that is not plain ASCII or could be used for
// alignment is quoted, and every further line of a long text is marked.
func Render(w io.Writer, fields []Field) error {
	out := bufio.NewWriter(w)
	renderFields(out, fields, 0)
	return out.Flush()
}

func renderFields(out *bufio.Writer, fields []Field, depth int) {
	width := 0
	for _, field := range fields {
		if field.Type != TypeList {
			width = max(width, utf8.RuneCountInString(printableLabel(field.Label)))
		}
	}
	for _, field := range fields {
		label := printableLabel(field.Label)
		fmt.Fprintf(out, "%s%s", strings.Repeat("  ", depth), label)
		padding := max(0, width-utf8.RuneCountInString(label)) + 2
		if value := renderValue(field, 2*depth+utf8.RuneCountInString(label)+padding); value != "" {
			fmt.Fprintf(out, "%s%s", strings.Repeat(" ", padding), value)
		}
		fmt.Fprintln(out)
		renderFields(out, field.Fields, depth+1)
	}
}

// unwrapped matches text that is not wrapped, so that it can be copied and compared: an
// outpoint, and a digest in groups of four digits. Neither can spell a field.
var unwrapped = regexp.MustCompile(`^([0-9a-f]{64}:[0-9]{1,10}|([0-9a-f]{4} ){15}[0-9a-f]{4})$`)

// Wrap breaks a text that begins in a column, counted from 0, into lines of at most 80
// characters, at spaces if possible. Further lines begin in the same column with a bar.
func Wrap(text string, column int) string {
	room := max(lineWidth-column, 2*len(continued)+16)
	var out strings.Builder
	for first := true; ; first = false {
		if !first {
			out.WriteString("\n" + strings.Repeat(" ", column) + continued)
		}
		line, rest := breakLine(text, room)
		out.WriteString(line)
		if text = rest; text == "" {
			return out.String()
		}
		if first {
			room -= len(continued)
		}
	}
}

// breakLine splits a text at the last space that fits, or within a long word.
func breakLine(text string, room int) (line, rest string) {
	if utf8.RuneCountInString(text) <= room {
		return text, ""
	}
	end := 0 // offset of the first character that does not fit
	for range room {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if space := strings.LastIndexByte(text[:end+1], ' '); space > 0 {
		return text[:space], text[space+1:]
	}
	return text[:end], text[end:]
}

// maxWords bounds the symbol and the note that follow an address, a number or bytes in
// the same line, in characters.
const maxWords = 80

// renderValue returns a value, its symbol and its note, in lines that begin in a column.
// Addresses, numbers and bytes are not wrapped.
func renderValue(field Field, column int) string {
	value, words := printable(field.Shown), ""
	if value == "" {
		value = renderType(field)
	}
	if field.Symbol != "" {
		words += " " + printable(field.Symbol)
	}
	if field.Note != "" {
		words += " [" + printable(field.Note) + "]"
	}
	if field.Type == TypeText && !unwrapped.MatchString(field.Value) {
		return Wrap(strings.TrimSpace(value+words), column)
	}
	if utf8.RuneCountInString(words) > maxWords {
		return value + "\n" + strings.Repeat(" ", column) + continued + Wrap(strings.TrimSpace(words),
			column+len(continued))
	}
	return strings.TrimSpace(value + words)
}

func renderType(field Field) string {
	switch field.Type {
	case TypeAmount:
		return Decimal(field.Value, field.Decimals)
	case TypeBytes:
		if field.SHA256 != "" {
			return fmt.Sprintf("0x%s… (%d bytes, sha256 %s)", field.Value, field.Length, field.SHA256)
		}
		return "0x" + field.Value
	case TypeText:
		return printable(field.Value)
	}
	return field.Value
}

// Decimal returns a decimal integer divided by 10^decimals, without trailing zeros:
// Decimal("1500", 3) is "1.5".
func Decimal(integer string, decimals int) string {
	if decimals <= 0 {
		return integer
	}
	sign, digits := "", integer
	if strings.HasPrefix(integer, "-") {
		sign, digits = "-", integer[1:]
	}
	point := max(0, len(digits)-decimals)
	whole, fraction := digits[:point], strings.TrimRight(digits[point:], "0")
	whole = cmp.Or(whole, "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + strings.Repeat("0", decimals-(len(digits)-point)) + fraction
}

// printable returns a text in a form that is safe within a line: quoted and escaped to
// ASCII if it has characters that are not printable or may be invisible or look like
// others (anything beyond ASCII), or spaces that could align it with fields. The ellipsis at the
// end of our own shortened values is allowed.
func printable(text string) string {
	foreign := func(r rune) bool { return (r < ' ' || r > '~') && r != '…' }
	if strings.Contains(text, "  ") || strings.TrimSpace(text) != text || strings.ContainsFunc(text, foreign) ||
		strings.HasPrefix(text, strings.TrimSpace(continued)) {
		return strconv.QuoteToASCII(text)
	}
	return text
}

// printableLabel returns a label in printable form, bounded to maxLabel.
func printableLabel(label string) string {
	text := []rune(printable(label))
	if len(text) > maxLabel {
		return string(text[:maxLabel-1]) + "…"
	}
	return string(text)
}
