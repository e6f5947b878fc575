package chains

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Render writes fields for a person to read, one a line, lists indented. Text
// that comes from the transaction cannot move the cursor, colour the terminal
// or reverse the line: what is not printable is quoted.
func Render(w io.Writer, fields []Field) error {
	out := bufio.NewWriter(w)
	renderFields(out, fields, 0)
	return out.Flush()
}

func renderFields(out *bufio.Writer, fields []Field, depth int) {
	width := labelWidth(fields)
	for _, field := range fields {
		label := printable(field.Label)
		fmt.Fprintf(out, "%s%s", strings.Repeat("  ", depth), label)
		if value := renderValue(field); value != "" {
			fmt.Fprintf(out, "%s  %s", strings.Repeat(" ", max(0, width-utf8.RuneCountInString(label))), value)
		}
		fmt.Fprintln(out)
		renderFields(out, field.Fields, depth+1)
	}
}

func labelWidth(fields []Field) int {
	width := 0
	for _, field := range fields {
		if field.Type != TypeList {
			width = max(width, utf8.RuneCountInString(printable(field.Label)))
		}
	}
	return width
}

func renderValue(field Field) string {
	value := printable(field.Shown)
	if value == "" {
		value = renderType(field)
	}
	if field.Symbol != "" {
		value += " " + printable(field.Symbol)
	}
	if field.Note != "" {
		value += " [" + printable(field.Note) + "]"
	}
	return strings.TrimSpace(value)
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

// Decimal writes a decimal integer with its point moved by decimals places and
// no trailing zeros: Decimal("1500", 3) is "1.5".
func Decimal(integer string, decimals int) string {
	if decimals <= 0 {
		return integer
	}
	sign := ""
	if strings.HasPrefix(integer, "-") {
		sign, integer = "-", integer[1:]
	}
	if missing := decimals + 1 - len(integer); missing > 0 {
		integer = strings.Repeat("0", missing) + integer
	}
	whole, fraction := integer[:len(integer)-decimals], strings.TrimRight(integer[len(integer)-decimals:], "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}

func printable(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	return strconv.Quote(text)
}
