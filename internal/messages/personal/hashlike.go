package personal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// hashLike says why a message looks like a hash, which does not show what is signed.
// It returns "" if it does not: a text that contains a hash among other words says what
// it is about.
func hashLike(message []byte) string { return hashIn(message, plaintext.Problem(message) == "") }

// hashIn is hashLike for a message of which it is known whether it is a text that can be shown.
func hashIn(message []byte, isText bool) string {
	if len(message) == hashSize && len(bytes.Trim(message, "0123456789abcdef-")) != 0 {
		return "the message is 32 bytes, like a hash whose preimage is unknown"
	}
	if !isText {
		return ""
	}
	problem := hashText(message)
	if rest := withoutLabel(message); problem == "" && len(rest) < len(message) {
		problem = hashText(rest)
	}
	return problem
}

// hashText says why a text is nothing but a hash, or returns "".
func hashText(text []byte) string {
	if saysMore(text) {
		return ""
	}
	parts := chunks(string(text))
	bare := strings.Join(parts, "")
	switch {
	case isHexHash(bare):
		return "the message is 64 hex digits, like a hash whose preimage is unknown"
	case isBase64Hash(bare) && !isWords(parts):
		return "the message is base64 of 32 bytes, like a hash whose preimage is unknown"
	}
	return ""
}

const hashSize = 32

// maxLabel bounds the word before a hash, in bytes.
const maxLabel = 64

// withoutLabel returns a text without the word and the colon that it begins with. Texts
// that begin otherwise are returned unchanged.
func withoutLabel(text []byte) []byte {
	head := text[:min(len(text), maxLabel+len("："))]
	colon := bytes.IndexByte(head, ':')
	if wide := bytes.Index(head, []byte("：")); colon < 0 || wide >= 0 && wide < colon {
		colon = wide
	}
	if colon < 0 || colon > maxLabel || len(chunks(string(text[:colon]))) != 1 {
		return text
	}
	return bytes.TrimLeft(text[colon:], ":：")
}

// mostShown is more characters than a hash has, with prefixes but without padding.
const mostShown = len("0x0X") + 2*hashSize

// saysMore reports whether a text has more characters than a hash. It counts those that are
// surely shown, where chunks does not stop before them: most texts are no longer looked at then.
func saysMore(text []byte) bool {
	shown := 0
	for _, c := range text[:min(len(text), maxBare)] {
		if c > ' ' && c < 0x7f && c != '=' && c != '"' && c != '\'' && c != '`' {
			if shown++; shown > mostShown {
				return true
			}
		}
	}
	return false
}

// maxBare is more than the length of a hash, in any form. What has more bytes is none.
const maxBare = 2 * (len("0x") + 2*hashSize)

// usualParts is more parts than most texts have before their size is reached.
const usualParts = 32

// chunks splits a text at white space, and removes quotes and characters that show
// nothing from its parts. It stops once they have more than maxBare bytes.
func chunks(text string) []string {
	parts := make([]string, 0, usualParts)
	size := 0
	for part := range strings.FieldsSeq(text) {
		if !isPlain(part) {
			part = strings.Map(shownOf, part)
		}
		if part != "" {
			parts = append(parts, part)
		}
		if size += len(part); size > maxBare {
			break
		}
	}
	return parts
}

// isPlain reports whether a part has neither quotes nor anything outside of ASCII.
func isPlain(part string) bool {
	for i := range len(part) {
		if c := part[i]; c <= ' ' || c >= 0x7f || isQuote(rune(c)) {
			return false
		}
	}
	return true
}

// shownOf returns a character, negative if it is a quote or shows nothing.
func shownOf(r rune) rune {
	if !plaintext.Visible(r) || isQuote(r) {
		return -1
	}
	return r
}

// isQuote reports whether a character is a quotation mark.
func isQuote(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '"' || r == '\'' || r == '`'
	}
	return strings.ContainsRune("´„‚‟‛′″「」『』〝〞〟＂＇", r) || unicode.In(r, unicode.Pi, unicode.Pf)
}

func isHexHash(text string) bool {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	if len(digits) != hex.EncodedLen(hashSize) {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

// isBase64Hash reports whether a text is base64 of 32 bytes, in either alphabet, with
// padding or without.
func isBase64Hash(text string) bool {
	digits := strings.TrimRight(text, "=")
	if len(digits) != base64.RawStdEncoding.EncodedLen(hashSize) {
		return false
	}
	_, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(digits))
	return err == nil
}

// isWords reports whether a text consists of several ordinary words and numbers, which
// could be base64 by their length alone. Base64 that is cut up into such words has short
// ones.
func isWords(parts []string) bool {
	size := 0
	for _, part := range parts {
		size += len(part)
		rest := part[1:]
		lower, upper := strings.Trim(rest, lowerCase) == "", strings.Trim(part, upperCase) == ""
		digits := strings.Trim(part, "0123456789") == ""
		word := lower && strings.ContainsAny(part[:1], lowerCase+upperCase)
		if !upper && !digits && !word {
			return false
		}
	}
	return len(parts) > 1 && 2*size >= 5*len(parts)
}

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)
