package strictjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string.
func (r *Reader) text() (string, error) {
	raw, escaped, err := r.quoted()
	if err != nil {
		return "", err
	}
	if !escaped {
		return string(raw), nil
	}
	return r.unescape(raw)
}

// bytes reads a string into the bytes where it stands, which share memory with
// the text that is read, so that who reads a secret can overwrite it there. Of
// a string with escapes it is a copy.
func (r *Reader) bytes() ([]byte, error) {
	raw, escaped, err := r.quoted()
	if err != nil || !escaped {
		return raw, err
	}
	text, err := r.unescape(raw)
	return []byte(text), err
}

func (r *Reader) skipText() error {
	raw, escaped, err := r.quoted()
	if err != nil || !escaped {
		return err
	}
	_, err = r.unescape(raw)
	return err
}

// quoted returns what stands between the quotation marks, and whether there
// are escapes in it, which it does not look at.
func (r *Reader) quoted() (raw []byte, escaped bool, err error) {
	if r.next() != '"' {
		return nil, false, r.expect("a string")
	}
	start := r.at + 1
	for at := start; at < len(r.data); at++ {
		switch char := r.data[at]; {
		case char == '"':
			r.at = at + 1
			return r.data[start:at], escaped, nil
		case char == '\\':
			escaped = true
			at++ // whatever it is, it does not end the string
		case char < 0x20:
			return nil, false, r.fail(at, "control character 0x%02x in a string: escape it", char)
		}
	}
	return nil, false, r.fail(start-1, "a string that does not end")
}

// unescape decodes what quoted returned.
func (r *Reader) unescape(raw []byte) (string, error) {
	start := r.at - 1 - len(raw)
	out := make([]byte, 0, len(raw))
	for at := 0; at < len(raw); {
		run := bytes.IndexByte(raw[at:], '\\')
		if run < 0 {
			out = append(out, raw[at:]...)
			break
		}
		out = append(out, raw[at:at+run]...)
		at += run
		char, size, problem := escape(raw[at:])
		if problem != "" {
			return "", r.fail(start+at, "%s", problem)
		}
		out = utf8.AppendRune(out, char)
		at += size
	}
	return string(out), nil
}

// escape decodes the escape that raw begins with: its character and its length.
func escape(raw []byte) (char rune, size int, problem string) {
	const simple, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if raw[1] != 'u' {
		i := bytes.IndexByte([]byte(simple), raw[1])
		if i < 0 {
			return 0, 0, "unknown escape in a string"
		}
		return rune(means[i]), 2, ""
	}
	char, ok := hex4(raw)
	switch {
	case !ok:
		return 0, 0, `\u needs four hex digits`
	case !utf16.IsSurrogate(char):
		return char, 6, ""
	}
	low, ok := hex4(raw[6:])
	if pair := utf16.DecodeRune(char, low); ok && pair != utf8.RuneError {
		return pair, 12, ""
	}
	return 0, 0, "half of a surrogate pair"
}

// hex4 reads \uXXXX.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var char rune
	for _, digit := range raw[2:6] {
		switch {
		case '0' <= digit && digit <= '9':
			digit -= '0'
		case 'a' <= digit && digit <= 'f':
			digit -= 'a' - 10
		case 'A' <= digit && digit <= 'F':
			digit -= 'A' - 10
		default:
			return 0, false
		}
		char = char<<4 | rune(digit)
	}
	return char, true
}

func (r *Reader) boolean() (bool, error) {
	switch r.next() {
	case 't':
		return true, r.literal("true")
	case 'f':
		return false, r.literal("false")
	}
	return false, r.expect("a boolean")
}

// integer reads a number that is written as an integer of at most 32 bits.
func (r *Reader) integer() (int, error) {
	start := r.at
	if char := r.next(); char != '-' && (char < '0' || char > '9') {
		return 0, r.expect("a number")
	}
	if err := r.number(); err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(string(r.data[start:r.at]), 10, 32)
	if err != nil || r.data[start] == '-' && value == 0 {
		return 0, r.fail(start, "an integer of at most 32 bits is expected, without point or exponent")
	}
	return int(value), nil
}

// number checks a number (RFC 8259, section 6):
//
//	[-] ( 0 | 1-9 digits ) [ . digits ] [ e|E [+|-] digits ]
func (r *Reader) number() error {
	start := r.at
	if r.next() == '-' {
		r.at++
	}
	leadingZero := r.next() == '0'
	whole := r.digits()
	if whole == 0 {
		return r.fail(start, "no JSON value begins like this")
	}
	if leadingZero && whole > 1 {
		return r.fail(start, "a number with a leading zero")
	}
	if r.next() == '.' {
		r.at++
		if r.digits() == 0 {
			return r.fail(start, "a number that ends in its point")
		}
	}
	if r.next()|0x20 == 'e' {
		r.at++
		if r.next() == '+' || r.next() == '-' {
			r.at++
		}
		if r.digits() == 0 {
			return r.fail(start, "a number without digits in its exponent")
		}
	}
	return nil
}

// digits skips decimal digits and returns how many there were.
func (r *Reader) digits() int {
	start := r.at
	for '0' <= r.next() && r.next() <= '9' {
		r.at++
	}
	return r.at - start
}
