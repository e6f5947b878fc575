package keyformat

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// object is a JSON object: its members by name, none of them twice. encoding/json
// alone would match names in any case and take the last of two: what one reader
// checks and another uses could be two things.
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
	decoder := json.NewDecoder(bytes.NewReader(from.text))
	open, err := decoder.Token()
	if err != nil || open != json.Delim('{') {
		return o, o.errorf(from.at, "", "a JSON object is expected")
	}
	for decoder.More() {
		if err := o.member(decoder); err != nil {
			return o, err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return o, o.errorf(from.at+int(decoder.InputOffset()), "", "the object does not end")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return o, o.errorf(from.at+int(decoder.InputOffset()), "", "nothing may follow the object")
	}
	return o, nil
}

func (o object) member(decoder *json.Decoder) error {
	token, err := decoder.Token()
	name, ok := token.(string)
	at := o.at + int(decoder.InputOffset())
	if err != nil || !ok {
		return o.errorf(at, "", "not JSON: a member's name is expected")
	}
	var text json.RawMessage
	if err := decoder.Decode(&text); err != nil {
		return o.errorf(at, "", "not JSON: the value of a member is expected")
	}
	if _, twice := o.members[name]; twice {
		return o.errorf(at, "", "member %.32q occurs twice", name)
	}
	o.members[name] = value{text: text, at: o.at + int(decoder.InputOffset()) - len(text)}
	return nil
}

// only refuses members other than these.
func (o object) only(names ...string) error {
	for name, found := range o.members {
		known := false
		for _, other := range names {
			known = known || name == other
		}
		if !known {
			return o.errorf(found.at, "", "unknown member %.32q: the members are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
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
