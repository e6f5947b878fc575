// Package strictjson reads JSON that has only one reading.
//
// The tokens are read by [jsontext], which refuses what two readers may
// understand differently: a member that appears twice, invalid UTF-8, half of a
// surrogate pair. This package adds the table of members that an object may
// have, in this case and no other, bounds on what is kept, and the path and
// byte offset of every fault. A byte-order mark and text after the object are
// refused too. A signature over text with two readings would say one thing to
// the signer and another to the reader; encoding/json accepts all of it.
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
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep objects and arrays may be nested.
const MaxDepth = 32

// MaxMembers bounds the members of the objects that are kept as they are, at
// all depths of one text together: each costs memory. Other objects are bounded
// by their table.
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

// Reader reads one text. The functions of fields receive it; nothing else
// creates one.
type Reader struct {
	what    string
	text    []byte
	decoder *jsontext.Decoder // reads text in place
	path    []string
	kept    int // members in objects that are kept, so far
}

// Read reads a text that is one object with the given members and nothing
// else. Its error is an *Error. What says what the text is.
func Read(text []byte, what string, fields ...Field) error {
	return read(text, what, func(r *Reader) error { return r.Object(fields...) })
}

// Check checks a text that is one object, whatever its members, as strictly as
// Read does. Its error is an *Error.
func Check(text []byte, what string) error {
	return read(text, what, func(r *Reader) error { return r.keep() })
}

// read reads the text from end to end.
func read(text []byte, what string, object func(*Reader) error) error {
	r := &Reader{what: what, text: text, decoder: jsontext.NewDecoder(bytes.NewBuffer(text))}
	if err := r.checkText(); err != nil {
		return err
	}
	if err := object(r); err != nil {
		return err
	}
	if rest := bytes.TrimLeft(r.text[r.decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return r.fail(len(text)-len(rest), "%d bytes follow the object: one object and nothing else is expected", len(rest))
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (r *Reader) checkText() error {
	switch {
	case len(r.text) == 0:
		return r.fail(0, "empty: a JSON object is expected")
	case bytes.HasPrefix(r.text, byteOrderMark):
		return r.fail(0, "byte-order mark: remove the three bytes ef bb bf")
	case utf8.Valid(r.text):
		return nil
	}
	for at := 0; ; {
		char, size := utf8.DecodeRune(r.text[at:])
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

// at returns where the next token starts.
func (r *Reader) at() int {
	rest := r.text[r.decoder.InputOffset():]
	return len(r.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

// token reads a token and drops it.
func (r *Reader) token() error {
	_, err := r.decoder.ReadToken()
	return r.refused(err)
}

// refused translates an error of the decoder.
func (r *Reader) refused(err error) error {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return r.fail(len(r.text), "the text ends early: it is not a whole JSON object")
	case !ok:
		return r.fail(r.at(), "%v", err)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return r.failIn(shownName(syntactic.JSONPointer.LastToken()), int(syntactic.ByteOffset), "appears twice")
	case errors.Is(err, jsontext.ErrNonStringName):
		return r.fail(int(syntactic.ByteOffset), "the name of a member is expected, in double quotes")
	}
	at := int(syntactic.ByteOffset)
	if bytes.HasPrefix(r.text[at:], []byte(`\`)) { // the decoder's error repeats the text that follows
		return r.fail(at, "an unknown escape, or half of a surrogate pair")
	}
	return r.fail(at, "%v", syntactic.Err)
}

// expect refuses a value of another kind than is expected here.
func (r *Reader) expect(kind string) error {
	if next, ok := kinds[r.decoder.PeekKind()]; ok {
		return r.fail(r.at(), "%s is expected, not %s", kind, next)
	}
	return r.token()
}

var kinds = map[jsontext.Kind]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number", 'n': "null", 't': "a boolean", 'f': "a boolean",
}
