// Package strictjson reads JSON that all readers understand alike.
//
// A signature over text that two readers understand differently would say one thing to
// the signer and another to the verifier. [jsontext] refuses duplicate members, invalid
// UTF-8 and unpaired surrogates, all of which encoding/json accepts. This package also
// refuses unknown members, names in another case, byte-order marks and text after the
// object, bounds what is kept, and reports the path and byte offset of every error.
//
// An object is read by a table of the members it may have:
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
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds the nesting of objects and arrays.
const MaxDepth = 32

// MaxMembers bounds the total number of members, at all depths, in objects that are not
// decoded: each costs memory. Other objects are bounded by their tables.
const MaxMembers = 256

// fewMembers is how many members of an object, with those in it, do not count once it has ended:
// the decoder has forgotten them, and they were too few to be kept in a map.
const fewMembers = 8

// Error describes what is wrong with a text, and where.
type Error struct {
	What    string // what the text is, such as "body"
	Path    string // the member at fault, such as "parameters.signWith"; empty for the whole text
	Offset  int    // byte offset in the text
	Problem string
}

// Error returns one whole line, such as
//
//	body: parameters.type at byte 211: expected a string, not a number
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: at byte %d: %s", e.What, e.Offset, e.Problem)
	}
	return fmt.Sprintf("%s: %s at byte %d: %s", e.What, e.Path, e.Offset, e.Problem)
}

// Reader reads one text. Only the functions of fields get one.
type Reader struct {
	what    string
	text    []byte
	decoder *Decoder
	path    []string
	kept    int // members so far of objects that are not decoded
}

// Read reads a text that is exactly one object with only the given members. what names
// the text in errors, which are of type *Error.
func Read(text []byte, what string, fields ...Field) error {
	return ReadValue(text, what, func(r *Reader) error { return r.Object(fields...) })
}

// Check checks as strictly as Read that a text is exactly one object, with any members.
// Its errors are of type *Error.
func Check(text []byte, what string) error {
	return ReadValue(text, what, (*Reader).keep)
}

// ReadValue reads a text that is exactly one value, which value reads. Otherwise it is as
// strict as Read.
func ReadValue(text []byte, what string, value func(*Reader) error) error {
	r := &Reader{what: what, text: text, decoder: NewDecoder(text)}
	defer r.decoder.Free()
	if err := r.checkText(); err != nil {
		return err
	}
	if err := value(r); err != nil {
		return err
	}
	if rest := bytes.TrimLeft(r.text[r.decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return r.fail(len(text)-len(rest), "%d bytes follow the object: expected exactly one object", len(rest))
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (r *Reader) checkText() error {
	switch {
	case len(r.text) == 0:
		return r.fail(0, "empty: expected a JSON object")
	case bytes.HasPrefix(r.text, byteOrderMark):
		return r.fail(0, "byte-order mark: remove the bytes ef bb bf")
	case utf8.Valid(r.text):
		return nil
	}
	for offset := 0; ; {
		char, size := utf8.DecodeRune(r.text[offset:])
		if char == utf8.RuneError && size == 1 {
			return r.fail(offset, "not UTF-8")
		}
		offset += size
	}
}

func (r *Reader) fail(offset int, format string, args ...any) error {
	return &Error{What: r.what, Path: strings.Join(r.path, "."), Offset: offset, Problem: fmt.Sprintf(format, args...)}
}

// failIn is fail for a member of the current object.
func (r *Reader) failIn(name string, offset int, format string, args ...any) error {
	r.path = append(r.path, name)
	return r.fail(offset, format, args...)
}

// next returns the offset of the next token.
func (r *Reader) next() int {
	rest := r.text[r.decoder.InputOffset():]
	return len(r.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (r *Reader) token() error {
	_, err := r.decoder.ReadToken()
	return r.refused(err)
}

func (r *Reader) refused(err error) error {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return r.fail(len(r.text), "the text is truncated: expected a whole JSON object")
	case !ok:
		return r.fail(r.next(), "%v", err)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return r.failIn(shownName(syntactic.JSONPointer.LastToken()), int(syntactic.ByteOffset), "appears twice")
	case errors.Is(err, jsontext.ErrNonStringName):
		return r.fail(int(syntactic.ByteOffset), "expected the name of a member, in double quotes")
	}
	offset := int(syntactic.ByteOffset)
	if bytes.HasPrefix(r.text[offset:], []byte(`\`)) { // the decoder's error would repeat the text that follows
		return r.fail(offset, "an unknown escape, or half of a surrogate pair")
	}
	return r.fail(offset, "%v", syntactic.Err)
}

// expect refuses a value that is not of the given kind.
func (r *Reader) expect(kind string) error {
	peeked := r.decoder.PeekKind()
	got, ok := kinds[peeked]
	if !ok {
		return r.token()
	}
	offset := r.next()
	if strings.ContainsRune("0ntf", rune(peeked)) { // known by its first letter alone: it may be no JSON
		if err := r.token(); err != nil {
			return err
		}
	}
	return r.fail(offset, "expected %s, not %s", kind, got)
}

var kinds = map[jsontext.Kind]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number", 'n': "null", 't': "a boolean", 'f': "a boolean",
}

// Decoder reads a text in place. It keeps the room in which it compares the names of members
// for the next text.
type Decoder struct {
	jsontext.Decoder
	text bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// NewDecoder returns a decoder of a text, which must not change until Free.
func NewDecoder(text []byte) *Decoder {
	d := decoders.Get().(*Decoder)
	d.text = *bytes.NewBuffer(text)
	d.Reset(&d.text)
	return d
}

// Free ends the use of the decoder.
func (d *Decoder) Free() { decoders.Put(d) }
