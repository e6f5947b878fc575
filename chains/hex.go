package chains

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeHex decodes a raw transaction in the API's form: hex in any case, with or without 0x. Its
// errors say what other text looks like; the caller adds what is expected (Chain.Expects).
func DecodeHex(text string) ([]byte, error) {
	digits := text
	if len(digits) >= 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') {
		digits = digits[2:]
	}
	if digits == "" {
		return nil, errors.New("empty")
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return nil, explainHex(text, digits)
	}
	return raw, nil
}

func explainHex(text, digits string) error {
	offset, others := strings.IndexFunc(digits, notHex), 0
	for _, r := range digits { // of the alphabet of base64 two thirds are not hex digits
		if notHex(r) {
			others++
		}
	}
	switch {
	case len(digits)%2 != 0 && offset < 0:
		return fmt.Errorf("odd number of hex digits (%d): the text is cut off or a digit is missing", len(digits))
	case strings.TrimSpace(text) != text:
		return errors.New("white space around the hex: remove it")
	case strings.HasPrefix(text, "{"):
		return errors.New("this looks like JSON")
	case strings.Trim(digits, base64Alphabet) == "" && others*4 > len(digits):
		return errors.New("this looks like base64")
	}
	bad, _ := utf8.DecodeRuneInString(digits[offset:])
	if bad == '\n' {
		return fmt.Errorf("a second line begins at position %d: one transaction or message is expected",
			len(text)-len(digits)+offset+1)
	}
	return fmt.Errorf("character %q at position %d is not a hex digit", bad, len(text)-len(digits)+offset)
}

func notHex(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
