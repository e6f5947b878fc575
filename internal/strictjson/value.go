package strictjson

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Into reads the next value into one of the types that [Optional] lists.
func (r *Reader) Into(into any) (err error) {
	switch into := into.(type) {
	case *string:
		var text []byte
		text, err = r.unquoted()
		*into = string(text)
	case *[]byte:
		*into, err = r.unquoted()
	case *bool:
		*into, err = r.boolean()
	case **bool:
		var value bool
		value, err = r.boolean()
		*into = &value
	case *int:
		*into, err = r.integer()
	case *Span:
		into.Start = r.next()
		err = r.keep()
		into.End = int(r.decoder.InputOffset())
	case *Value:
		into.Kind, into.Start = byte(r.decoder.PeekKind()), r.next()
		r.kept -= len(r.text) // uncounted
		err = r.keepValue(0)
		r.kept += len(r.text)
		into.End = int(r.decoder.InputOffset())
	case *[]string:
		*into, err = r.strs()
	case func(*Reader) error:
		err = into(r)
	default:
		panic("strictjson: a field cannot be read into this type")
	}
	return err
}

// unquoted reads a string. The bytes share memory with the text, so that the caller can
// overwrite a secret there; if the string has escapes, they are a copy.
func (r *Reader) unquoted() ([]byte, error) {
	if r.decoder.PeekKind() != '"' {
		return nil, r.expect("a string")
	}
	quoted, err := r.decoder.ReadValue()
	switch {
	case err != nil:
		return nil, r.refused(err)
	case bytes.IndexByte(quoted, '\\') < 0:
		return quoted[1 : len(quoted)-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	return text, r.refused(err)
}

func (r *Reader) strs() ([]string, error) {
	if r.decoder.PeekKind() != '[' {
		return nil, r.expect("an array of strings")
	}
	if err := r.token(); err != nil {
		return nil, err
	}
	list := []string{}
	for r.decoder.PeekKind() != ']' {
		text, err := r.unquoted()
		if err != nil {
			return nil, err
		}
		list = append(list, string(text))
	}
	return list, r.token()
}

func (r *Reader) boolean() (bool, error) {
	if kind := r.decoder.PeekKind(); kind != 't' && kind != 'f' {
		return false, r.expect("a boolean")
	}
	token, err := r.decoder.ReadToken()
	if err != nil {
		return false, r.refused(err)
	}
	return token.Bool(), nil
}

// integer reads an integer of at most 32 bits.
func (r *Reader) integer() (int, error) {
	if r.decoder.PeekKind() != '0' {
		return 0, r.expect("a number")
	}
	start := r.next()
	digits, err := r.decoder.ReadValue()
	if err != nil {
		return 0, r.refused(err)
	}
	value, err := strconv.ParseInt(string(digits), 10, 32)
	if err != nil || digits[0] == '-' && value == 0 {
		return 0, r.fail(start, "expected an integer of at most 32 bits, without point or exponent")
	}
	return int(value), nil
}

// keep checks an object with any members without decoding it.
func (r *Reader) keep() error {
	if r.decoder.PeekKind() != '{' {
		return r.expect("an object")
	}
	return r.keepValue(0)
}

func (r *Reader) keepValue(depth int) error {
	if depth > MaxDepth {
		return r.fail(r.next(), "nested deeper than %d", MaxDepth)
	}
	kind := r.decoder.PeekKind()
	if err := r.token(); err != nil || kind != '{' && kind != '[' {
		return err
	}
	before := r.kept
	for end := kind + 2; r.decoder.PeekKind() != end; { // '}' is '{' + 2, and ']' is '[' + 2
		if kind == '{' {
			offset := r.next()
			name, err := r.decoder.ReadToken()
			if err != nil {
				return r.refused(err)
			}
			if r.kept++; r.kept > MaxMembers {
				return r.failIn(shownName(name.String()), offset, "more than %d members in total", MaxMembers)
			}
		}
		if err := r.keepValue(depth + 1); err != nil {
			return err
		}
	}
	if r.kept-before <= fewMembers {
		r.kept = before
	}
	return r.token()
}
