// Package strictjson reads JSON of which there is only one reading.
//
// What two JSON readers may understand differently is refused: a member that
// appears twice, a member whose name is known in another case only, bytes that
// are not UTF-8, half of a surrogate pair, a byte-order mark, anything behind
// the value. A signature over such a text would say one thing to who checked it
// and another to who carries it out; encoding/json takes all of it.
//
// Objects are read by a table of the members they may have:
//
//	err := strictjson.Read(body, "body",
//		strictjson.Required("type", &kind),
//		strictjson.Optional("generateAppProofs", &proofs),
//	)
package strictjson

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may be nested.
const MaxDepth = 32

// MaxMembers is how many members one text may have, at all depths together, in
// the objects that are kept as they are: each costs memory. An object that is
// read has those of its table.
const MaxMembers = 256

// Error says what is wrong with a text, and where.
type Error struct {
	What    string // what the text is, such as "body"
	Path    string // the member at fault, such as "parameters.signWith"; empty for the whole
	Offset  int    // byte offset in the text
	Problem string
}

// Error returns one whole line, such as
//
//	body: parameters.type at byte 211: a string is expected, not a number
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: at byte %d: %s", e.What, e.Offset, e.Problem)
	}
	return fmt.Sprintf("%s: %s at byte %d: %s", e.What, e.Path, e.Offset, e.Problem)
}

// Reader reads one text. Fields' functions get it; there is no need to make
// one.
type Reader struct {
	what string
	data []byte
	at   int
	path []string
	kept int // members in objects that are kept, so far
}

// Read reads a text that is one object with the given members and nothing
// else. Its error is an *Error. What says what the text is.
func Read(data []byte, what string, fields ...Field) error {
	reader := Reader{what: what, data: data}
	return reader.whole(func() error { return reader.Object(fields...) })
}

// Check checks a text that is one object, whatever its members, as strictly as
// Read does. Its error is an *Error.
func Check(data []byte, what string) error {
	reader := Reader{what: what, data: data}
	return reader.whole(func() error { return reader.skipObject(0) })
}

// whole reads the text from end to end.
func (r *Reader) whole(object func() error) error {
	if err := r.checkText(); err != nil {
		return err
	}
	r.space()
	if err := object(); err != nil {
		return err
	}
	r.space()
	if r.at < len(r.data) {
		return r.fail(r.at, "%d bytes follow the object: one object and nothing else is expected", len(r.data)-r.at)
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (r *Reader) checkText() error {
	switch {
	case len(r.data) == 0:
		return r.fail(0, "empty: a JSON object is expected")
	case bytes.HasPrefix(r.data, byteOrderMark):
		return r.fail(0, "byte-order mark: remove the three bytes ef bb bf")
	case utf8.Valid(r.data):
		return nil
	}
	for at := 0; ; {
		char, size := utf8.DecodeRune(r.data[at:])
		if char == utf8.RuneError && size == 1 {
			return r.fail(at, "not UTF-8")
		}
		at += size
	}
}

func (r *Reader) fail(at int, format string, args ...any) error {
	return &Error{What: r.what, Path: strings.Join(r.path, "."), Offset: at, Problem: fmt.Sprintf(format, args...)}
}

// failIn is fail for a member of the object that is being read.
func (r *Reader) failIn(name string, at int, format string, args ...any) error {
	r.path = append(r.path, name)
	return r.fail(at, format, args...)
}

// next returns the byte that comes, 0 at the end: no token begins with it.
func (r *Reader) next() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

// space skips white space (RFC 8259, section 2).
func (r *Reader) space() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// literal reads one of true, false and null.
func (r *Reader) literal(word string) error {
	if !bytes.HasPrefix(r.data[r.at:], []byte(word)) {
		return r.fail(r.at, "no JSON value begins like this")
	}
	r.at += len(word)
	return nil
}

// null reads null if it comes.
func (r *Reader) null() bool {
	return r.next() == 'n' && r.literal("null") == nil
}

// expect refuses a value of another kind than is expected here.
func (r *Reader) expect(kind string) error {
	return r.fail(r.at, "%s is expected, not %s", kind, r.nextKind())
}

func (r *Reader) nextKind() string {
	switch char := r.next(); {
	case r.at >= len(r.data):
		return "the end of the text"
	case char == '{':
		return "an object"
	case char == '[':
		return "an array"
	case char == '"':
		return "a string"
	case char == 't' || char == 'f':
		return "a boolean"
	case char == 'n':
		return "null"
	case char == '-' || '0' <= char && char <= '9':
		return "a number"
	}
	char, _ := utf8.DecodeRune(r.data[r.at:])
	return fmt.Sprintf("%q", char)
}
