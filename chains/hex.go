package chains

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// DecodeHex reads a raw transaction as the API writes it: hex in any case, with
// or without 0x. Its errors say what the text looks like if it is not hex; what
// is expected is for the caller to add (Chain.Expects).
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
		return nil, explainHex(text, digits, err)
	}
	return raw, nil
}

func explainHex(text, digits string, err error) error {
	var bad hex.InvalidByteError
	switch {
	case errors.Is(err, hex.ErrLength):
		return fmt.Errorf("odd number of hex digits (%d): the text is cut off or a digit is missing", len(digits))
	case strings.TrimSpace(text) != text:
		return errors.New("white space around the hex: remove it")
	case strings.HasPrefix(text, "{"):
		return errors.New("this looks like JSON")
	case strings.Trim(digits, base64Alphabet) == "":
		return errors.New("this looks like base64")
	case errors.As(err, &bad):
		at := strings.IndexByte(text, byte(bad))
		return fmt.Errorf("character %q at position %d is not a hex digit", rune(bad), at)
	}
	return err
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
