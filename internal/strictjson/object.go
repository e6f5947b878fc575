package strictjson

import (
	"strconv"
	"strings"
)

// Field describes a member that an object may have.
type Field struct {
	name     string
	required bool
	into     any
	atMost   int // bytes of a string; 0: any length
}

// Required returns a member that must be present and not null. into is as for [Optional].
func Required(name string, into any) Field { return Field{name: name, required: true, into: into} }

// Optional returns a member that may be absent; null means absent, too. into is where
// its value is stored:
//
//	*string, *bool        a string or a boolean
//	*[]byte               a string, sharing memory with the text: for secrets, which can be overwritten
//	**bool                a boolean; stays nil if absent
//	*int                  an integer of 32 bits without point or exponent
//	*Span                 an object that is not decoded
//	*Value                a value of any kind that is not decoded
//	*[]string             an array of strings; AtMost bounds their total length
//	func(*Reader) error   anything that the function reads, such as another Object
func Optional(name string, into any) Field { return Field{name: name, into: into} }

// AtMost returns the field with a bound on the length of its string, in bytes of UTF-8.
// The error for a longer string does not repeat it.
func (f Field) AtMost(bytes int) Field {
	f.atMost = bytes
	return f
}

// Span is the position of a value in the text: from Start up to, not including, End.
type Span struct{ Start, End int }

// Of returns the value's text.
func (s Span) Of(text []byte) []byte { return text[s.Start:s.End:s.End] }

// Value is the text of a value that is not decoded. Unlike that of a Span, its members are
// not bounded: another reader, or the bound of the text, has to.
type Value struct {
	Span
	Kind byte // the first letter: { [ " 0 t f n, or 0 if it is absent
}

// Array reads an array: each reads one element.
func (r *Reader) Array(each func(*Reader) error) error {
	if r.decoder.PeekKind() != '[' {
		return r.expect("an array")
	}
	if err := r.token(); err != nil {
		return err
	}
	for i := 0; r.decoder.PeekKind() != ']'; i++ {
		r.path = append(r.path, strconv.Itoa(i))
		if err := each(r); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	return r.token()
}

// Object reads an object that has only the given members, of which there are at most 64.
func (r *Reader) Object(fields ...Field) error {
	start := r.next()
	if r.decoder.PeekKind() != '{' {
		return r.expect("an object")
	}
	if err := r.token(); err != nil {
		return err
	}
	var present uint64
	for r.decoder.PeekKind() != '}' {
		i, err := r.name(fields)
		if err != nil {
			return err
		}
		present |= 1 << i
		if err := r.member(&fields[i]); err != nil {
			return err
		}
	}
	for i := range fields {
		if fields[i].required && present&(1<<i) == 0 {
			return r.failIn(fields[i].name, start, "missing")
		}
	}
	return r.token()
}

// name reads the name of a member and returns the index of its field. The decoder
// refuses duplicate names.
func (r *Reader) name(fields []Field) (int, error) {
	offset := r.next()
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
	for _, field := range fields {
		if strings.EqualFold(field.name, string(name)) {
			return 0, r.failIn(string(name), offset, "unknown member: names are case-sensitive, this one is %s",
				field.name)
		}
	}
	return 0, r.failIn(shownName(string(name)), offset, "unknown member")
}

// maxNameShown is the longest unknown name that an error repeats, in bytes. A longer one
// is hardly a typo: it may be a misplaced secret.
const maxNameShown = 32

// shownName returns a name for an error, quoted unless it is plain.
func shownName(name string) string {
	switch {
	case len(name) > maxNameShown:
		return "a name of " + strconv.Itoa(len(name)) + " bytes"
	case strings.Trim(name, plainName) != "" || name == "":
		return strconv.Quote(name)
	}
	return name
}

// plainName has the characters of names that errors do not quote.
const plainName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

func (r *Reader) member(field *Field) error {
	start := r.next()
	r.path = append(r.path, field.name)
	if r.decoder.PeekKind() == 'n' {
		if err := r.token(); err != nil {
			return err
		}
		if field.required {
			return r.fail(start, "null: a value is required")
		}
	} else if err := r.Into(field.into); err != nil {
		return err
	} else if err := field.check(r, start); err != nil {
		return err
	}
	r.path = r.path[:len(r.path)-1]
	return nil
}

// check refuses a string, or an array of strings, that exceeds the field's bound.
func (f *Field) check(r *Reader, start int) error {
	length := 0
	switch into := f.into.(type) {
	case *string:
		length = len(*into)
	case *[]byte:
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
