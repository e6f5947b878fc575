package texts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Template is a text with fields: literal words, and values of a type between braces.
//
//	Sign in to Example\n\nNonce: {nonce}\nIssued at: {time}
//
//	{address}   an address: 0x and 40 hex digits, base58 of 25 to 44 digits, or bech32
//	{number}    1 to 20 decimal digits
//	{hex N}     hex digits of N bytes, 1 to 64, without 0x
//	{uuid}      a UUID
//	{time}      a time by RFC 3339
//	{nonce}     4 to 88 letters, digits, dashes and underscores
//	{base64}    4 to 88 digits of base64
//	{host}      a host name, with a port or without
//
// {{ and }} stand for braces. What follows a field begins with a character that the field
// cannot have, so that a text has at most one reading. No field takes words: a template says
// what a text means, whatever its fields are.
type Template struct {
	Domain string `json:"domain"` // whom the text belongs to
	Text   string `json:"text"`
	Source string `json:"source,omitempty"` // where the text is published

	parts []part
}

// Bounds of a template.
const (
	maxTemplate = 4096 // bytes
	maxParts    = 64
	minLetters  = 10 // of its literal words
)

// part is literal text, or a field.
type part struct {
	literal string
	name    string // of a field
	label   string // the name, numbered from the second of a type on
	field   field
}

// field is a type of values: what a value looks like, and the characters by which it could go
// on, none if its end is certain.
type field struct {
	pattern *plaintext.Pattern
	open    string
	valid   func(value string) bool // nil: every value
}

const (
	digits = "0123456789"
	words  = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

var fields = map[string]field{
	"address": {plaintext.NewPattern(`^(0x[0-9a-fA-F]{40}|(bc|tb|bcrt)1[02-9ac-hj-np-z]{11,71}|[1-9A-HJ-NP-Za-km-z]{25,44})`), words, nil},
	"number":  {plaintext.NewPattern(`^[0-9]{1,20}`), digits, nil},
	"uuid":    {plaintext.NewPattern(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`), "", nil},
	"time":    {plaintext.NewPattern(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)`), "", isTime},
	"nonce":   {plaintext.NewPattern(`^[0-9A-Za-z_-]{4,88}`), words + "_-", nil},
	"base64":  {plaintext.NewPattern(`^[0-9A-Za-z+/]{4,88}={0,2}`), words + "+/=", nil},
	"host":    {plaintext.NewPattern(`^[0-9A-Za-z.:-]{1,253}`), words + ".:-", domainText.MatchString},
}

// fieldOf returns the type of a field by what stands between its braces.
func fieldOf(name string) (of field, ok bool) {
	size, sized := strings.CutPrefix(name, "hex ")
	if !sized {
		of, ok = fields[name]
		return of, ok
	}
	bytes, err := strconv.Atoi(size)
	ok = err == nil && bytes > 0 && bytes <= 64 && strconv.Itoa(bytes) == size
	return field{pattern: plaintext.NewPattern(fmt.Sprintf(`^[0-9a-fA-F]{%d}`, 2*bytes))}, ok
}

// Compile reads the text of a template. The error says what is wrong with it.
func (t *Template) Compile() error {
	t.parts = nil
	switch {
	case !domainText.MatchString(t.Domain) || len(t.Domain) > 253:
		return fmt.Errorf("domain %.64q: expected the domain of the site that asks for the text", t.Domain)
	case len(t.Text) > maxTemplate:
		return fmt.Errorf("text: %d bytes, of at most %d", len(t.Text), maxTemplate)
	case plaintext.Problem([]byte(t.Text)) != "":
		return fmt.Errorf("text: %s", plaintext.Problem([]byte(t.Text)))
	}
	known, count := "", map[string]int{}
	for rest := t.Text; rest != ""; {
		next, after, err := nextPart(rest)
		if err != nil {
			return fmt.Errorf("text: %w", err)
		}
		if last := len(t.parts) - 1; last >= 0 && t.parts[last].name != "" &&
			(next.name != "" || strings.Contains(t.parts[last].field.open, next.literal[:1])) {
			return fmt.Errorf("text: what follows {%s} must begin with a character that the field cannot have",
				t.parts[last].name)
		}
		if next.label = next.name; count[next.name] > 0 {
			next.label += " " + strconv.Itoa(count[next.name]+1)
		}
		count[next.name]++
		known += next.literal
		t.parts, rest = append(t.parts, next), after
	}
	known = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, known)
	switch {
	case len(t.parts) > maxParts:
		return fmt.Errorf("text: %d fields and words between them, of at most %d", len(t.parts), maxParts)
	case utf8.RuneCountInString(known) < minLetters:
		return fmt.Errorf("text: %q are its letters outside of fields, of at least %d: a text is not known by so few",
			known, minLetters)
	}
	return nil
}

// nextPart reads the first part of a template's text, which is not empty.
func nextPart(text string) (next part, rest string, err error) {
	if text[0] == '{' && !strings.HasPrefix(text, "{{") {
		name, rest, closed := strings.Cut(text[1:], "}")
		of, ok := fieldOf(name)
		if !closed || !ok {
			return part{}, "", fmt.Errorf("{%.32s}: expected {address}, {number}, {hex N} with N bytes from 1 to "+
				"64, {uuid}, "+
				"{time}, {nonce}, {base64} or {host}; {{ and }} stand for braces", name)
		}
		return part{name: name, field: of}, rest, nil
	}
	var literal strings.Builder
	for text != "" {
		switch c := text[0]; {
		case strings.HasPrefix(text, "{{"), strings.HasPrefix(text, "}}"):
			text = text[1:]
		case c == '{':
			return part{literal: literal.String()}, text, nil
		case c == '}':
			return part{}, "", fmt.Errorf("} without {: }} stands for a brace")
		}
		literal.WriteByte(text[0])
		text = text[1:]
	}
	return part{literal: literal.String()}, "", nil
}

// Match returns the fields of a text, such as "number" and "number 2", if the text is one of the
// template. Compile has been called. The cost is linear in the text.
func (t *Template) Match(text string) (args []chains.Arg, ok bool) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.name == "" {
			if text, ok = strings.CutPrefix(text, p.literal); !ok {
				return nil, false
			}
			continue
		}
		value := p.field.pattern.Regexp().FindString(text)
		if value == "" || p.field.valid != nil && !p.field.valid(value) {
			return nil, false
		}
		args, text = append(args, chains.Arg{Name: p.label, Value: value}), text[len(value):]
	}
	return args, text == "" && len(t.parts) > 0
}

// varying are what guess takes for fields, the first that fits.
var varying = plaintext.NewPattern(`\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)|[0-9A-Za-z_-]*\d[0-9A-Za-z_-]*`)

// guess returns a file with a template that a text matches, in JSON, empty if there is none that
// is short enough to be printed.
func guess(text []byte) string {
	const most = 1024
	if len(text) > most || plaintext.Problem(text) != "" {
		return ""
	}
	whole := strings.NewReplacer("{", "{{", "}", "}}").Replace(string(text))
	for _, form := range []string{varying.Regexp().ReplaceAllStringFunc(whole, shapeOf), whole} {
		template := Template{Domain: "example.com", Text: form}
		if template.Compile() != nil {
			continue
		}
		if _, ok := template.Match(string(text)); ok {
			file, err := json.Marshal(map[string]any{"texts": []map[string]string{{"domain": "DOMAIN", "text": form}}})
			if err != nil {
				return ""
			}
			return string(file)
		}
	}
	return ""
}

// shapeOf returns the field that a value may be of, or the value.
func shapeOf(value string) string {
	for _, name := range []string{"uuid", "time", "address", "number"} {
		if of := fields[name]; of.pattern.Regexp().FindString(value) == value && (of.valid == nil || of.valid(value)) {
			return "{" + name + "}"
		}
	}
	hex := strings.TrimPrefix(value, "0x")
	switch {
	case len(hex)%2 == 0 && len(hex) >= 8 && len(hex) <= 128 && strings.Trim(hex, digits+"abcdefABCDEF") == "":
		return value[:len(value)-len(hex)] + "{hex " + strconv.Itoa(len(hex)/2) + "}"
	case len(value) >= 8 && len(value) <= 88:
		return "{nonce}"
	}
	return value
}
