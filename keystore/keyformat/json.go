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

// object is a JSON object. jsontext refuses duplicate members. Objects in it have the same fault.
type object struct {
	path    string // in the file, such as "crypto.kdfparams"
	members map[string]value
	offset  int // in the file
	*fault
}

// value is the text of a member and its offset in the file.
type value struct {
	text   []byte
	offset int
}

func (o object) errorf(offset int, name, format string, args ...any) {
	switch {
	case o.path != "":
		name = strings.TrimSuffix(o.path+"."+name, ".")
	case name == "":
		name = "the file"
	}
	o.fail(fmt.Errorf("web3: %w: %s at byte %d: %w", ErrMalformed, name, offset, fmt.Errorf(format, args...)))
}

// parseObject reads a value that is one object and nothing else.
func parseObject(path string, from value, to *fault) object {
	o := object{path, map[string]value{}, from.offset, to}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(from.text))
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		o.errorf(from.offset, "", "expected a JSON object")
		return o
	}
	for decoder.PeekKind() != '}' {
		token, err := decoder.ReadToken()
		name := ""
		var text []byte
		if err == nil {
			name = token.String()
			text, err = decoder.ReadValue()
		}
		if err != nil {
			o.notJSON(decoder, err)
			return o
		}
		o.members[name] = value{text: bytes.Clone(text), offset: o.offset + int(decoder.InputOffset()) - len(text)}
	}
	if _, err := decoder.ReadToken(); err != nil {
		o.notJSON(decoder, err)
	} else if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		o.errorf(from.offset+int(decoder.InputOffset()), "", "unexpected text after the object")
	}
	return o
}

func (o object) notJSON(decoder *jsontext.Decoder, err error) {
	offset := decoder.InputOffset()
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		offset = syntactic.ByteOffset
	}
	problem := "not JSON"
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		problem = "the object does not end"
	case ok && errors.Is(err, jsontext.ErrDuplicateName):
		problem = fmt.Sprintf("duplicate member %.32q", syntactic.JSONPointer.LastToken())
	}
	o.errorf(o.offset+int(offset), "", "%s", problem)
}

// only refuses members other than the given ones. The error names the first.
func (o object) only(names ...string) {
	var unknown string
	offset := -1
	for name, member := range o.members {
		if !slices.Contains(names, name) && (offset < 0 || member.offset < offset) {
			unknown, offset = name, member.offset
		}
	}
	if offset >= 0 {
		o.errorf(offset, "", "unknown member %.32q: the members are %s", unknown, strings.Join(names, ", "))
	}
}

func (o object) need(name string) value {
	member, ok := o.members[name]
	if !ok {
		o.errorf(o.offset, name, "missing")
	}
	return member
}

func (o object) object(name string) object {
	member := o.need(name)
	if o.path != "" {
		name = o.path + "." + name
	}
	return parseObject(name, member, o.fault)
}

// text reads a string without escapes, which the format never needs.
func (o object) text(name string) string {
	member := o.need(name)
	size := len(member.text)
	if size < 2 || member.text[0] != '"' || bytes.IndexByte(member.text, '\\') >= 0 {
		o.errorf(member.offset, name, "expected a string without escapes")
		return ""
	}
	return string(member.text[1 : size-1])
}

// hex reads between least and most bytes in hex.
func (o object) hex(name string, least, most int) []byte {
	raw, err := hex.DecodeString(o.text(name))
	if err != nil {
		o.errorf(o.members[name].offset, name, "expected an even number of hex digits, without 0x")
	}
	want := strconv.Itoa(least)
	if least != most {
		want = fmt.Sprintf("%d to %d", least, most)
	}
	if len(raw) < least || len(raw) > most {
		o.errorf(o.members[name].offset, name, "%d bytes, want %s", len(raw), want)
	}
	return raw
}

// number reads a natural number.
func (o object) number(name string) uint64 {
	member := o.need(name)
	number, err := strconv.ParseUint(string(member.text), 10, 64)
	if err != nil {
		o.errorf(member.offset, name, "expected a natural number")
	}
	return number
}
