package strictjson

import (
	"slices"
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
	var seen uint64
	start := r.at
	err := r.members(fields, func(name string, at int) error {
		i := slices.IndexFunc(fields, func(field Field) bool { return field.name == name })
		if i < 0 {
			return r.unknown(name, at, fields)
		}
		if seen&(1<<i) != 0 {
			return r.failIn(name, at, "appears twice")
		}
		seen |= 1 << i
		return r.member(&fields[i])
	})
	if err != nil {
		return err
	}
	for i := range fields {
		if fields[i].required && seen&(1<<i) == 0 {
			return r.failIn(fields[i].name, start, "missing")
		}
	}
	return nil
}

// maxNameShown is how long a name that is not ours may be for an error to repeat
// it. A longer one is no slip of the pen: it may be a secret in the wrong place.
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
	start := r.at
	r.path = append(r.path, field.name)
	if r.null() {
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

func (r *Reader) value(into any) (err error) {
	switch into := into.(type) {
	case *string:
		*into, err = r.text()
	case *[]byte:
		*into, err = r.bytes()
	case *bool:
		*into, err = r.boolean()
	case **bool:
		var value bool
		value, err = r.boolean()
		*into = &value
	case *int:
		*into, err = r.integer()
	case *Span:
		if r.next() != '{' {
			return r.expect("an object")
		}
		into.Start = r.at
		err = r.skip(0)
		into.End = r.at
	case *[]string:
		*into, err = r.texts()
	case func(*Reader) error:
		err = into(r)
	default:
		panic("strictjson: a field cannot be read into this type")
	}
	return err
}

// members reads an object and calls each with every name, at the value. It
// does not look at whether a name comes twice. The fields are those whose names
// are likely.
func (r *Reader) members(fields []Field, each func(name string, at int) error) error {
	if r.next() != '{' {
		return r.expect("an object")
	}
	r.at++
	r.space()
	if r.next() == '}' {
		r.at++
		return nil
	}
	for {
		at := r.at
		if r.next() != '"' {
			return r.expect("the name of a member")
		}
		name, err := r.name(fields)
		if err != nil {
			return err
		}
		if err := r.separator(':'); err != nil {
			return err
		}
		if err := each(name, at); err != nil {
			return err
		}
		if done, err := r.listEnds('}'); done || err != nil {
			return err
		}
	}
}

// name reads the name of a member: that of a field is there already, and takes
// no memory.
func (r *Reader) name(fields []Field) (string, error) {
	raw, escaped, err := r.quoted()
	switch {
	case err != nil:
		return "", err
	case escaped:
		return r.unescape(raw)
	}
	for i := range fields {
		if string(raw) == fields[i].name {
			return fields[i].name, nil
		}
	}
	return string(raw), nil
}

// separator reads one character with the white space around it.
func (r *Reader) separator(char byte) error {
	r.space()
	if r.next() != char {
		return r.expect(strconv.Quote(string(rune(char))))
	}
	r.at++
	r.space()
	return nil
}

// listEnds reads what stands behind an element: a comma, or the end.
func (r *Reader) listEnds(end byte) (bool, error) {
	r.space()
	if r.next() == end {
		r.at++
		return true, nil
	}
	if r.next() != ',' {
		return false, r.expect(`"," or ` + strconv.Quote(string(rune(end))))
	}
	r.at++
	r.space()
	return false, nil
}

// texts reads an array of strings.
func (r *Reader) texts() ([]string, error) {
	if r.next() != '[' {
		return nil, r.expect("an array of strings")
	}
	r.at++
	r.space()
	if r.next() == ']' {
		r.at++
		return []string{}, nil
	}
	var texts []string
	for {
		text, err := r.text()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
		if ends, err := r.listEnds(']'); err != nil || ends {
			return texts, err
		}
	}
}

// skip checks a value of any kind without keeping it.
func (r *Reader) skip(depth int) error {
	if depth > MaxDepth {
		return r.fail(r.at, "nested deeper than %d", MaxDepth)
	}
	switch r.next() {
	case '{':
		return r.skipObject(depth)
	case '[':
		return r.skipArray(depth)
	case '"':
		return r.skipText()
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	}
	return r.number()
}

func (r *Reader) skipObject(depth int) error {
	names := map[string]struct{}{}
	return r.members(nil, func(name string, at int) error {
		if _, twice := names[name]; twice {
			return r.failIn(shownName(name), at, "appears twice")
		}
		if r.kept == MaxMembers {
			return r.failIn(shownName(name), at, "more than %d members in an object that is kept", MaxMembers)
		}
		r.kept++
		names[name] = struct{}{}
		return r.skip(depth + 1)
	})
}

func (r *Reader) skipArray(depth int) error {
	r.at++
	r.space()
	if r.next() == ']' {
		r.at++
		return nil
	}
	for {
		if err := r.skip(depth + 1); err != nil {
			return err
		}
		if done, err := r.listEnds(']'); done || err != nil {
			return err
		}
	}
}
