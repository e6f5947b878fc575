package activity

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Answers are written by appending: json.Marshal would compact and escape the
// parameters, which are to stay as they were submitted, byte for byte.

// appendMember appends "name": with a comma in front unless it is the first.
func appendMember(dst []byte, name string) []byte {
	if last := dst[len(dst)-1]; last != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func appendTextMember(dst []byte, name, value string) []byte {
	return appendText(appendMember(dst, name), value)
}

func appendRawMember(dst []byte, name, value string) []byte {
	return append(appendMember(dst, name), value...)
}

const lowerHex = "0123456789abcdef"

// plainBytes are those that stand in a JSON string as they are, if the string
// is UTF-8.
var plainBytes = func() (plain [256]bool) {
	for char := range plain {
		plain[char] = char >= 0x20 && char != '"' && char != '\\'
	}
	return plain
}()

// appendText appends a JSON string with only the escapes that JSON needs. What
// is not UTF-8 becomes U+FFFD.
func appendText[text string | []byte](dst []byte, value text) []byte {
	return append(appendEscaped(append(dst, '"'), value), '"')
}

// appendEscaped appends what stands between the quotation marks.
func appendEscaped[text string | []byte](dst []byte, value text) []byte {
	before := len(dst)
	start, ascii := 0, byte(0)
	for at := 0; at < len(value); at++ {
		char := value[at]
		ascii |= char
		if plainBytes[char] {
			continue
		}
		dst = append(dst, value[start:at]...)
		dst = appendEscape(dst, char)
		start = at + 1
	}
	if ascii >= utf8.RuneSelf && !utf8.ValidString(string(value)) {
		return appendEscaped(dst[:before], strings.ToValidUTF8(string(value), "\ufffd"))
	}
	return append(dst, value[start:]...)
}

func appendEscape(dst []byte, char byte) []byte {
	switch char {
	case '"', '\\':
		return append(dst, '\\', char)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', lowerHex[char>>4], lowerHex[char&15])
}

// timeForm is one of the two forms that times have in an answer.
type timeForm func(dst []byte, at time.Time) []byte

// appendTimestamp appends a time as the clients read it: an object of two
// strings, seconds since the epoch and nanoseconds.
func appendTimestamp(dst []byte, at time.Time) []byte {
	dst = append(dst, `{"seconds":"`...)
	dst = strconv.AppendInt(dst, at.Unix(), 10)
	dst = append(dst, `","nanos":"`...)
	dst = strconv.AppendInt(dst, int64(at.Nanosecond()), 10)
	return append(dst, `"}`...)
}

// appendRFC3339 appends a time as the interface document has it.
func appendRFC3339(dst []byte, at time.Time) []byte {
	dst = append(dst, '"')
	dst = at.UTC().AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

func (f Fingerprint) appendJSON(dst []byte) []byte {
	dst = append(dst, `"sha256:`...)
	dst = hex.AppendEncode(dst, f[:])
	return append(dst, '"')
}
