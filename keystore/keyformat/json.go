package keyformat

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object: its members by name. That none of them appears twice, in
// whatever object of the file, is checked by jsontext.
type object struct {
	path    string // where it stands, such as "crypto.kdfparams"
	members map[string]value
	at      int
}

// value is the text of a member and where it stands in the file.
type value struct {
	text []byte
	at   int
}

func (o object) errorf(at int, name, format string, args ...any) error {
	switch {
	case o.path != "":
		name = strings.TrimSuffix(o.path+"."+name, ".")
	case name == "":
		name = "the file"
	}
	return fmt.Errorf("web3: %w: %s at byte %d: %w", ErrMalformed, name, at, fmt.Errorf(format, args...))
}

// parseObject reads one object and nothing behind it.
func parseObject(path string, from value) (object, error) {
	o := object{path: path, members: map[string]value{}, at: from.at}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(from.text))
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return o, o.errorf(from.at, "", "a JSON object is expected")
	}
	for decoder.PeekKind() != '}' {
		if err := o.member(decoder); err != nil {
			return o, err
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return o, o.notJSON(decoder, err)
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return o, o.errorf(from.at+int(decoder.InputOffset()), "", "nothing may follow the object")
	}
	return o, nil
}

func (o object) member(decoder *jsontext.Decoder) error {
	token, err := decoder.ReadToken()
	if err != nil {
		return o.notJSON(decoder, err)
	}
	name := token.String()
	text, err := decoder.ReadValue()
	if err != nil {
		return o.notJSON(decoder, err)
	}
	o.members[name] = value{text: bytes.Clone(text), at: o.at + int(decoder.InputOffset()) - len(text)}
	return nil
}

// notJSON translates an error of the decoder.
func (o object) notJSON(decoder *jsontext.Decoder, err error) error {
	at := int(decoder.InputOffset())
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		at = int(syntactic.ByteOffset)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return o.errorf(o.at+at, "", "the object does not end")
	case ok && errors.Is(err, jsontext.ErrDuplicateName):
		return o.errorf(o.at+at, "", "member %.32q occurs twice", syntactic.JSONPointer.LastToken())
	}
	return o.errorf(o.at+at, "", "not JSON")
}

// only refuses members other than these: of several, the first.
func (o object) only(names ...string) error {
	var unknown string
	at := -1
	for name, found := range o.members {
		if !slices.Contains(names, name) && (at < 0 || found.at < at) {
			unknown, at = name, found.at
		}
	}
	if at < 0 {
		return nil
	}
	return o.errorf(at, "", "unknown member %.32q: the members are %s", unknown, strings.Join(names, ", "))
}

func (o object) need(name string) (value, error) {
	found, ok := o.members[name]
	if !ok {
		return found, o.errorf(o.at, name, "missing")
	}
	return found, nil
}

func (o object) object(name string) (object, error) {
	found, err := o.need(name)
	if err != nil {
		return object{}, err
	}
	if o.path != "" {
		name = o.path + "." + name
	}
	return parseObject(name, found)
}

// text reads a string without escapes: none of the format's needs one.
func (o object) text(name string) (string, error) {
	found, err := o.need(name)
	if err != nil {
		return "", err
	}
	size := len(found.text)
	if size < 2 || found.text[0] != '"' || bytes.IndexByte(found.text, '\\') >= 0 {
		return "", o.errorf(found.at, name, "a string without escapes is expected")
	}
	return string(found.text[1 : size-1]), nil
}

// hex reads a string of hex digits of least to most bytes.
func (o object) hex(name string, least, most int) ([]byte, error) {
	digits, err := o.text(name)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return nil, o.errorf(o.members[name].at, name, "hex digits, an even number of them and without 0x, are expected")
	}
	if len(raw) < least || len(raw) > most {
		return nil, o.errorf(o.members[name].at, name, "%d bytes, want %s", len(raw), between(least, most))
	}
	return raw, nil
}

func between(least, most int) string {
	if least == most {
		return strconv.Itoa(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// number reads a natural number.
func (o object) number(name string) (uint64, error) {
	found, err := o.need(name)
	if err != nil {
		return 0, err
	}
	number, err := strconv.ParseUint(string(found.text), 10, 64)
	if err != nil {
		return 0, o.errorf(found.at, name, "a natural number is expected")
	}
	return number, nil
}
