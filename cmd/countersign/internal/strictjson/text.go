package strictjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string in quotes. Without escapes it is a part of the input.
func (r *reader) text() ([]byte, error) {
	start := r.at + 1
	for i := start; i < len(r.data); i++ {
		switch b := r.data[i]; {
		case b == '"':
			text := r.data[start:i:i]
			if !utf8.Valid(text) {
				return nil, r.fault("text is not valid UTF-8")
			}
			r.at = i + 1
			return text, nil
		case b == '\\':
			return r.escapedText(start, i)
		case b < ' ':
			r.at = i
			return nil, r.fault("control character in a string")
		}
	}
	r.at = len(r.data)
	return nil, r.fault("the text ends inside a string")
}

// escapedText goes on with a string of which there are no escapes before i.
func (r *reader) escapedText(start, i int) ([]byte, error) {
	text := append([]byte(nil), r.data[start:i]...)
	r.at = i
	for r.at < len(r.data) {
		switch b := r.data[r.at]; {
		case b == '"':
			r.at++
			if !utf8.Valid(text) {
				return nil, r.fault("text is not valid UTF-8")
			}
			return text, nil
		case b == '\\':
			char, err := r.escape()
			if err != nil {
				return nil, err
			}
			text = utf8.AppendRune(text, char)
		case b < ' ':
			return nil, r.fault("control character in a string")
		default:
			text = append(text, b)
			r.at++
		}
	}
	return nil, r.fault("the text ends inside a string")
}

var shortEscapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads what a backslash begins.
func (r *reader) escape() (rune, error) {
	if r.at+1 < len(r.data) && r.data[r.at+1] == 'u' {
		return r.unicode()
	}
	if r.at+1 < len(r.data) {
		if char, ok := shortEscapes[r.data[r.at+1]]; ok {
			r.at += 2
			return char, nil
		}
	}
	return 0, r.fault("unknown escape in a string")
}

// unicode reads \uXXXX, or two of them that are a surrogate pair.
func (r *reader) unicode() (rune, error) {
	start := r.at
	char, err := r.unit()
	if err != nil || !utf16.IsSurrogate(char) {
		return char, err
	}
	if low, err := r.unit(); err == nil {
		if pair := utf16.DecodeRune(char, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	r.at = start
	return 0, r.fault("unpaired surrogate in a string")
}

// unit reads one \uXXXX.
func (r *reader) unit() (rune, error) {
	digits := r.rest(6)
	if len(digits) < 6 || digits[0] != '\\' || digits[1] != 'u' {
		return 0, r.fault(`\u and four hex digits are expected`)
	}
	unit, err := strconv.ParseUint(string(digits[2:]), 16, 16)
	if err != nil {
		return 0, r.fault(`\u and four hex digits are expected`)
	}
	r.at += 6
	return rune(unit), nil
}
