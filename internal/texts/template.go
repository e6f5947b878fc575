package texts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

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
//	{date}      a date as JavaScript and HTTP write it: Sat, 28 Nov 2026 12:00:00 GMT
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
	maxFields   = 32
	minLetters  = 10 // of its literal words
)

// part is literal text, or a field.
type part struct {
	literal string
	field   *fieldType
	size    int // of a field with a size, in bytes
	name    string
}

// fieldType is a type of values. takes reports the characters that it may have; the longest run
// of them is the value.
type fieldType struct {
	takes    func(c byte) bool
	min, max int
	valid    func(value string) bool // nil: every run of that length
	sized    bool
}

const (
	digits    = "0123456789"
	letters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	hexDigits = "0123456789abcdefABCDEF"
)

func among(alphabet string) func(byte) bool {
	return func(c byte) bool { return strings.IndexByte(alphabet, c) >= 0 }
}

var addressText = plaintext.NewPattern(`^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{25,44}|(bc|tb|bcrt)1[02-9ac-hj-np-z]{11,71})$`)

func isDate(text string) bool {
	for _, layout := range []string{time.RFC1123, "Mon Jan 02 2006 15:04:05 GMT-0700 (MST)"} {
		if parsed, err := time.Parse(layout, text); err == nil && parsed.Format(layout) == text {
			return true
		}
	}
	return false
}

var fieldTypes = map[string]*fieldType{
	"address": {takes: among(digits + letters), min: 14, max: 75, valid: addressText.MatchString},
	"number":  {takes: among(digits), min: 1, max: 20},
	"hex":     {takes: among(hexDigits), sized: true},
	"uuid":    {takes: among(hexDigits + "-"), min: 36, max: 36, valid: uuidText.MatchString},
	"time":    {takes: among(digits + "TZ:.+-"), min: 20, max: 35, valid: isTime},
	"date":    {takes: among(digits + letters + " ,:+-"), min: 29, max: 40, valid: isDate},
	"nonce":   {takes: among(digits + letters + "-_"), min: 4, max: 88},
	"base64":  {takes: among(digits + letters + "+/="), min: 4, max: 88},
	"host":    {takes: among(digits + letters + ".-:"), min: 1, max: 253, valid: domainText.MatchString},
}

// Compile reads the text of a template. The error says what is wrong with it.
func (t *Template) Compile() error {
	t.parts = nil
	switch {
	case !domainText.MatchString(t.Domain) || len(t.Domain) > 253:
		return fmt.Errorf("domain %.64q: expected the domain of whoever asks for the text", t.Domain)
	case len(t.Text) > maxTemplate:
		return fmt.Errorf("text: %d bytes, of at most %d", len(t.Text), maxTemplate)
	case plaintext.Problem([]byte(t.Text)) != "":
		return fmt.Errorf("text: %s", plaintext.Problem([]byte(t.Text)))
	}
	known, fields := "", 0
	for rest := t.Text; rest != ""; {
		next, after, err := nextPart(rest)
		if err != nil {
			return fmt.Errorf("text: %w", err)
		}
		if last := len(t.parts) - 1; last >= 0 && t.parts[last].field != nil && (next.field != nil || t.parts[last].field.takes(next.literal[0])) {
			return fmt.Errorf("text: what follows {%s} must begin with a character that the field cannot have", t.parts[last].name)
		}
		if next.field != nil {
			fields++
		}
		known += next.literal
		t.parts, rest = append(t.parts, next), after
	}
	count := 0
	for _, c := range known {
		if unicode.IsLetter(c) {
			count++
		}
	}
	switch {
	case fields > maxFields:
		return fmt.Errorf("text: %d fields, of at most %d", fields, maxFields)
	case count < minLetters:
		return fmt.Errorf("text: %d letters outside of fields, of at least %d: nobody knows it by so few", count, minLetters)
	}
	return nil
}

// nextPart reads the first part of a template's text, which is not empty.
func nextPart(text string) (next part, rest string, err error) {
	if text[0] == '{' && !strings.HasPrefix(text, "{{") {
		name, rest, ok := strings.Cut(text[1:], "}")
		kind, size, sized := strings.Cut(name, " ")
		next = part{field: fieldTypes[kind], name: name}
		if !ok || next.field == nil || sized != next.field.sized {
			return part{}, "", fmt.Errorf("{%.32s}: expected {address}, {number}, {hex N}, {uuid}, {time}, {date}, {nonce}, {base64} or {host}; {{ and }} stand for braces", name)
		}
		if sized {
			next.size, err = strconv.Atoi(size)
			if err != nil || next.size < 1 || next.size > 64 || strconv.Itoa(next.size) != size {
				return part{}, "", fmt.Errorf("{%.32s}: expected a number of bytes from 1 to 64", name)
			}
		}
		return next, rest, nil
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

// Match returns the values of the fields of a text, if the text is one of the template. Compile
// has been called. The cost is linear in the text.
func (t *Template) Match(text string) (values []string, ok bool) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.field == nil {
			if text, ok = strings.CutPrefix(text, p.literal); !ok {
				return nil, false
			}
			continue
		}
		least, most := p.field.min, p.field.max
		if p.size > 0 {
			least, most = 2*p.size, 2*p.size
		}
		end := 0
		for end < len(text) && end <= most && p.field.takes(text[end]) {
			end++
		}
		if end < least || end > most || p.field.valid != nil && !p.field.valid(text[:end]) {
			return nil, false
		}
		values, text = append(values, text[:end]), text[end:]
	}
	return values, text == "" && len(t.parts) > 0
}

// Fields returns the names of the fields, in order: their types, numbered from the second of a
// type on, as in "address", "number", "number 2".
func (t *Template) Fields() (names []string) {
	count := map[string]int{}
	for i := range t.parts {
		name := t.parts[i].name
		if t.parts[i].field == nil {
			continue
		}
		if count[name]++; count[name] > 1 {
			name += " " + strconv.Itoa(count[name])
		}
		names = append(names, name)
	}
	return names
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
	for _, form := range []string{varying.Regexp().ReplaceAllStringFunc(whole, fieldOf), whole} {
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

// fieldOf returns the field that a value may be of, or the value.
func fieldOf(value string) string {
	for _, name := range []string{"uuid", "time", "address", "number"} {
		if kind := fieldTypes[name]; len(value) >= kind.min && len(value) <= kind.max && strings.IndexFunc(value, func(r rune) bool { return !kind.takes(byte(r)) }) < 0 &&
			(kind.valid == nil || kind.valid(value)) {
			return "{" + name + "}"
		}
	}
	hex, prefixed := strings.CutPrefix(value, "0x")
	switch {
	case len(hex)%2 == 0 && len(hex) >= 8 && len(hex) <= 128 && strings.Trim(hex, hexDigits) == "":
		return value[:len(value)-len(hex)] + "{hex " + strconv.Itoa(len(hex)/2) + "}"
	case !prefixed && len(value) >= 8 && len(value) <= 88:
		return "{nonce}"
	}
	return value
}
