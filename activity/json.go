package activity

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Answers are built by appending because json.Marshal would compact and escape the
// parameters, which must stay exactly as submitted.

// appendMember appends "name": after a comma, unless it is the first member.
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

// appendTextMembers appends members whose values are texts: names and values in turns.
func appendTextMembers(dst []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		dst = appendTextMember(dst, pairs[i], pairs[i+1])
	}
	return dst
}

func appendRawMember(dst []byte, name, value string) []byte {
	return append(appendMember(dst, name), value...)
}

// appendMarshaled appends what encoding/json makes of a value.
func appendMarshaled(dst []byte, value any) []byte {
	encoded, err := strictjson.Marshal(value)
	if err != nil {
		panic("activity: encoding a record: " + err.Error())
	}
	return append(dst, encoded...)
}

func appendElements[T any](dst []byte, list []T, element func(*T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(&list[i], dst)
	}
	return append(dst, ']')
}

const lowerHex = "0123456789abcdef"

// plainBytes are the bytes that need no escape in a JSON string, if the string is UTF-8.
var plainBytes = func() (plain [256]bool) {
	for char := range plain {
		plain[char] = char >= 0x20 && char != '"' && char != '\\'
	}
	return plain
}()

// appendText appends a JSON string with the escapes that JSON requires. Invalid UTF-8 is
// replaced by U+FFFD.
func appendText[text string | []byte](dst []byte, value text) []byte {
	return append(appendEscaped(append(dst, '"'), value), '"')
}

// appendEscaped appends the content of a JSON string, without the quotation marks.
func appendEscaped[text string | []byte](dst []byte, value text) []byte {
	before := len(dst)
	start, ascii := 0, byte(0)
	for i := 0; i < len(value); i++ {
		char := value[i]
		ascii |= char
		if plainBytes[char] {
			continue
		}
		dst = append(dst, value[start:i]...)
		dst = appendEscape(dst, char)
		start = i + 1
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

// timeForm appends a time in one of the two forms that an answer has.
type timeForm func(dst []byte, t time.Time) []byte

// appendTimestamp appends a time as the clients read it: an object of two strings,
// seconds since the epoch and nanoseconds.
func appendTimestamp(dst []byte, t time.Time) []byte {
	dst = append(dst, `{"seconds":"`...)
	dst = strconv.AppendInt(dst, t.Unix(), 10)
	dst = append(dst, `","nanos":"`...)
	dst = strconv.AppendInt(dst, int64(t.Nanosecond()), 10)
	return append(dst, `"}`...)
}

// appendRFC3339 appends a time as in the API's documentation.
func appendRFC3339(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}
