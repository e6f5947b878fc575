package strictjson

import (
	"strconv"
	"strings"
)

// Field is one member that an object may have.
type Field struct {
	name     string
	required bool
	into     any
	atMost   int // bytes of a string; 0: any length
}

// Required is a member that must be there, and not null. What into may be is
// said by [Optional].
func Required(name string, into any) Field { return Field{name: name, required: true, into: into} }

// Optional is a member that may be absent; null means the same. Its value is
// read into a
//
//	*string, *bool        of that kind
//	*[]byte               a string, where it stands in the text: for secrets, to be overwritten
//	**bool                stays nil if it is absent
//	*int                  an integer without point or exponent
//	*Span                 an object, kept as it is
//	*[]string             an array of strings; AtMost bounds them together
//	func(*Reader) error   whatever the function reads, such as another Object
func Optional(name string, into any) Field { return Field{name: name, into: into} }

// AtMost returns the field with a bound on its string, in bytes of UTF-8. A
// longer one is refused, and the error does not repeat it.
func (f Field) AtMost(bytes int) Field {
	f.atMost = bytes
	return f
}

// Span is where a value stands in the text: from Start to before End.
type Span struct{ Start, End int }

// Of returns the value's text.
func (s Span) Of(text []byte) []byte { return text[s.Start:s.End:s.End] }

// Object reads an object with the given members and no other. At most 64.
func (r *Reader) Object(fields ...Field) error {
	start := r.at()
	if r.decoder.PeekKind() != '{' {
		return r.expect("an object")
	}
	if err := r.token(); err != nil {
		return err
	}
	var seen uint64
	for r.decoder.PeekKind() != '}' {
		i, err := r.name(fields)
		if err != nil {
			return err
		}
		seen |= 1 << i
		if err := r.member(&fields[i]); err != nil {
			return err
		}
	}
	for i := range fields {
		if fields[i].required && seen&(1<<i) == 0 {
			return r.failIn(fields[i].name, start, "missing")
		}
	}
	return r.token()
}

// name reads the name of a member and returns which field it is. That a name
// appears twice is found by the decoder.
func (r *Reader) name(fields []Field) (int, error) {
	at := r.at()
	if r.decoder.PeekKind() != '"' {
		return 0, r.token()
	}
	name, err := r.unquoted()
	if err != nil {
		return 0, err
	}
	for i := range fields {
		if string(name) == fields[i].name {
			return i, nil
		}
	}
	return 0, r.unknown(string(name), at, fields)
}

// maxNameShown is the longest unknown name that an error repeats, in bytes. A
// longer one is hardly a typing error: it may be a secret in the wrong place.
const maxNameShown = 32

// shownName is a name as errors repeat it, quoted unless it is plain.
func shownName(name string) string {
	switch {
	case len(name) > maxNameShown:
		return "a name of " + strconv.Itoa(len(name)) + " bytes"
	case strings.Trim(name, plainName) != "" || name == "":
		return strconv.Quote(name)
	}
	return name
}

func (r *Reader) unknown(name string, at int, fields []Field) error {
	for _, field := range fields {
		if strings.EqualFold(field.name, name) {
			return r.failIn(name, at, "unknown member: names are case-sensitive, this one is %s", field.name)
		}
	}
	return r.failIn(shownName(name), at, "unknown member")
}

// plainName is what names are made of that an error repeats without quoting.
const plainName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// member reads the value of a member.
func (r *Reader) member(field *Field) error {
	start := r.at()
	r.path = append(r.path, field.name)
	if r.decoder.PeekKind() == 'n' {
		if err := r.token(); err != nil {
			return err
		}
		if field.required {
			return r.fail(start, "null: a value is required")
		}
	} else if err := r.value(field.into); err != nil {
		return err
	} else if err := field.check(r, start); err != nil {
		return err
	}
	r.path = r.path[:len(r.path)-1]
	return nil
}

// check refuses a string, or an array of them, that is longer than the field's
// bound.
func (f *Field) check(r *Reader, start int) error {
	length := 0
	switch into := f.into.(type) {
	case *string:
		length = len(*into)
	case *[]string:
		for _, text := range *into {
			length += len(text)
		}
	}
	if f.atMost == 0 || length <= f.atMost {
		return nil
	}
	return r.fail(start, "%d bytes, at most %d are allowed", length, f.atMost)
}
