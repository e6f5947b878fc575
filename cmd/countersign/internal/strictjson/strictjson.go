// Package strictjson reads JSON objects whose members are strings, such as the
// lines of sign --jsonl and keys import --jsonl.
//
// encoding/json matches names in any case, takes the last of two members of one
// name and mends broken text. What is checked and what is used could then be
// two things. Here an object has one meaning or none: names match byte for byte,
// no member occurs twice, unknown ones are refused by name, text is valid UTF-8
// without unpaired surrogates, and nothing follows the object.
package strictjson

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Member is one member that an object may have.
type Member struct {
	Name     string
	Optional bool // may be absent, or null

	// Value receives the text, which may share memory with the input; nil if
	// the member is absent.
	Value *[]byte
}

// Decode reads one object with the members given and no others. Errors name
// the member and the byte offset; no value is ever part of them.
func Decode(data []byte, members ...Member) error {
	r := reader{data: data}
	seen := make([]bool, len(members))
	if err := r.object(func(name []byte, at int) error {
		i, err := find(members, seen, name, at)
		if err != nil {
			return err
		}
		return r.value(members[i])
	}); err != nil {
		return err
	}
	for i, member := range members {
		if !seen[i] && !member.Optional {
			return fmt.Errorf("member %q is missing", member.Name)
		}
	}
	return nil
}

// find returns which of the members a name is and notes that it was seen.
func find(members []Member, seen []bool, name []byte, at int) (int, error) {
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == string(name) })
	if i < 0 {
		return 0, unknown(members, string(name), at)
	}
	if seen[i] {
		return 0, fmt.Errorf("member %q occurs twice, again at byte %d", name, at)
	}
	seen[i] = true
	return i, nil
}

// maxNameShown is how much of an unknown name an error shows: who mixed up
// name and value might have written a secret there, and a line can be long.
const maxNameShown = 24

func unknown(members []Member, name string, at int) error {
	var known []string
	for _, member := range members {
		if strings.EqualFold(member.Name, name) {
			return fmt.Errorf("unknown member %q at byte %d: names are matched byte for byte, write %q", name, at, member.Name)
		}
		known = append(known, member.Name)
	}
	if len(name) > maxNameShown {
		name = name[:maxNameShown] + "…"
	}
	return fmt.Errorf("unknown member %q at byte %d: the members are %s", name, at, strings.Join(known, ", "))
}

// reader is a position in one JSON text.
type reader struct {
	data []byte
	at   int
}

var errNotObject = errors.New(`a JSON object in braces is expected`)

// object reads {"name": value, …} and nothing behind it. The callback is called
// behind each colon and reads the value.
func (r *reader) object(member func(name []byte, at int) error) error {
	if r.space(); r.at == len(r.data) {
		return fmt.Errorf("empty: %w", errNotObject)
	}
	if !r.take('{') {
		return r.fault("%w", errNotObject)
	}
	for first := true; !r.take('}'); first = false {
		if !first && !r.take(',') {
			return r.fault("a comma or a closing brace is expected")
		}
		if err := r.member(member); err != nil {
			return err
		}
	}
	if r.space(); r.at < len(r.data) {
		return r.fault("nothing may follow the object")
	}
	return nil
}

func (r *reader) member(value func(name []byte, at int) error) error {
	r.space()
	at := r.at
	if r.peek() != '"' {
		return r.fault("a member's name in quotes is expected")
	}
	name, err := r.text()
	if err != nil {
		return err
	}
	if !r.take(':') {
		return r.fault("a colon is expected behind member %q", name)
	}
	r.space()
	return value(name, at)
}

// value reads the value of a member: a string, or null for an optional one.
func (r *reader) value(member Member) error {
	switch r.peek() {
	case '"':
		text, err := r.text()
		if err != nil {
			return fmt.Errorf("member %q: %w", member.Name, err)
		}
		*member.Value = text
		return nil
	case 'n':
		if member.Optional && strings.HasPrefix(string(r.rest(4)), "null") {
			r.at += 4
			return nil
		}
	}
	return r.fault("member %q: a string is expected, found %s", member.Name, r.kind())
}

// kind names what begins here, for an error.
func (r *reader) kind() string {
	switch b := r.peek(); {
	case b == '{':
		return "an object"
	case b == '[':
		return "an array"
	case b == 't' || b == 'f':
		return "a boolean"
	case b == 'n':
		return "null"
	case b == '-' || '0' <= b && b <= '9':
		return "a number"
	case b == 0 && r.at >= len(r.data):
		return "the end"
	}
	return "something else"
}

func (r *reader) rest(most int) []byte { return r.data[r.at:min(len(r.data), r.at+most)] }

func (r *reader) peek() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

// take skips white space and, if it comes next, the byte.
func (r *reader) take(b byte) bool {
	r.space()
	if r.at < len(r.data) && r.data[r.at] == b {
		r.at++
		return true
	}
	return false
}

func (r *reader) space() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

func (r *reader) fault(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %w", r.at, fmt.Errorf(format, args...))
}
