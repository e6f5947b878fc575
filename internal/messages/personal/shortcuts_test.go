package personal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// What the package does at a glance is done at length here.

// longPlainWords is appendPlainWords, character by character.
func longPlainWords(text string) string {
	var words strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune("’‘ʼ", r):
			words.WriteByte('\'')
		case unicode.Is(unicode.Cf, r):
		case r == unicode.ReplacementChar, !unicode.IsSpace(r):
			words.WriteRune(unicode.ToLower(r))
		case words.Len() > 0 && !strings.HasSuffix(words.String(), " "):
			words.WriteByte(' ')
		}
	}
	return strings.TrimSuffix(words.String(), " ")
}

// longDerivesKey is DerivesKey, which tries every pattern.
func longDerivesKey(text string) string {
	if len(text) > maxKeyText {
		return ""
	}
	words := longPlainWords(text)
	for _, k := range keyTexts {
		if words == k.text || !k.exact && strings.HasPrefix(words, k.text) {
			return k.of
		}
	}
	for _, action := range typedKeyTexts {
		if words == action || strings.Contains(words, `"`+action+`"`) {
			return `the application with the action "` + action + `"`
		}
	}
	for i := range keyPhrases {
		if keyPhrases[i].pattern.MatchString(words) && !notKeys.MatchString(words) {
			return "the application"
		}
	}
	return ""
}

// longHash is hashIn, which cuts every text into words.
func longHash(message []byte) string {
	whole := string(message)
	if len(message) == hashSize && strings.Trim(whole, "0123456789abcdef-") != "" {
		return "the message is 32 bytes, like a hash whose preimage is unknown"
	}
	if plaintext.Problem(message) != "" {
		return ""
	}
	for _, text := range []string{whole, longWithoutLabel(whole)} {
		switch parts := chunks(text); {
		case isHexHash(strings.Join(parts, "")):
			return "the message is 64 hex digits, like a hash whose preimage is unknown"
		case isBase64Hash(strings.Join(parts, "")) && !isWords(parts):
			return "the message is base64 of 32 bytes, like a hash whose preimage is unknown"
		}
	}
	return ""
}

func longWithoutLabel(text string) string {
	at := strings.IndexAny(text, ":：")
	if at < 0 || at > maxLabel || len(chunks(text[:at])) != 1 {
		return text
	}
	return strings.TrimLeft(text[at:], ":：")
}

// checkShortcuts compares both for a text.
func checkShortcuts(t *testing.T, text string) {
	t.Helper()
	if got, want := string(appendPlainWords(nil, text)), longPlainWords(text); got != want {
		t.Errorf("the words of %q: %q, want %q", text, got, want)
	}
	for name, of := range map[string]string{"a string": DerivesKey(text), "bytes": DerivesKey([]byte(text))} {
		if want := longDerivesKey(text); of != want {
			t.Errorf("%q as %s: whose key is %q, want %q", text, name, of, want)
		}
	}
	if got, want := hashLike([]byte(text)), longHash([]byte(text)); got != want {
		t.Errorf("%q: %q, want %q", text, got, want)
	}
	for _, by := range []*standard{siwe, siwt, siws} {
		if got, want := signInOf([]byte(text), by), parseSignIn(text, by); (got == nil) != (want == nil) || got != nil && fmt.Sprint(*got) != fmt.Sprint(*want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// shortcutTexts are texts that have hazards, or almost.
func shortcutTexts() []string {
	hash := bytes.Repeat([]byte{0xab, 0x01, 0x9f, 0x3c}, hashSize/4)
	digits, base := hex.EncodeToString(hash), base64.StdEncoding.EncodeToString(hash)
	texts := []string{
		"", "hello", string(hash), digits, "0x" + digits, "0x0X" + digits, strings.ToUpper(digits), base, strings.TrimRight(base, "="), base + strings.Repeat("=", 200),
		"hash: " + digits, "hash：" + base, strings.Repeat("x", maxLabel) + ":" + digits, strings.Repeat("x", maxLabel-1) + "é:" + digits, "a b: " + digits,
		`"` + strings.Join(strings.Split(digits, ""), `" "`) + `"`, strings.Join(strings.Split(digits, ""), "  "), digits[:32] + "\u200b" + digits[32:],
		strings.Repeat("= ", 40) + base, base + strings.Repeat(" =", 100), strings.Repeat("'", 150) + digits, digits + " " + strings.Repeat("-", 200),
		"example.com wants you to sign in with your Ethereum account:\n0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56\n\nHello\n\n" +
			"URI: https://example.com/login\nVersion: 1\nChain ID: 1\nNonce: 32891756\nIssued At: 2025-11-20T12:00:00Z",
		"example.com wants you to sign in with your Solana account:\nTPoqpax8", "example.com wants you to sign in with your TRON account:\nTPoqpax8",
		"sign this message to generate your private key", "a seed derivation", "Signing derives an encryption", "only sign this message on a trusted site",
		"sign to create an API key", `{"action":"dYdX Onboarding"}`, "ONLY SIGN THIS\u2028REQUEST", "the K of Kelvin \u212a, \u0130stanbul, \u1e9e, ‘quoted’",
	}
	for _, k := range keyTexts {
		texts = append(texts, k.text, strings.ToUpper(k.text)+" And more.")
	}
	return append(texts, typedKeyTexts...)
}

// mutated returns a text with a few changes.
func mutated(r *rand.Rand, texts []string) string {
	alphabet := []rune("abcXYZ019 =:：\n\t'\"`.-_/+\u200b\u00ad\u00a0\u212a’é\u202e\U0001f600\x7f\x00")
	text := []rune(texts[r.IntN(len(texts))])
	for range r.IntN(6) {
		at, end := r.IntN(len(text)+1), 0
		end = at + r.IntN(min(len(text)-at, 8)+1)
		switch r.IntN(5) {
		case 0:
			text = slices.Insert(text, at, alphabet[r.IntN(len(alphabet))])
		case 1:
			text = slices.Delete(text, at, end)
		case 2:
			text = append(text[:at:at], []rune(texts[r.IntN(len(texts))])...)
		case 3:
			text = slices.Concat(text[:at], []rune(strings.ToUpper(string(text[at:end]))), text[end:])
		case 4:
			text = slices.Insert(text, at, slices.Repeat([]rune{alphabet[r.IntN(len(alphabet))]}, r.IntN(80))...)
		}
	}
	if r.IntN(20) == 0 && len(text) > 0 {
		raw := []byte(string(text))
		raw[r.IntN(len(raw))] ^= 1 << r.IntN(8) // which may be no UTF-8
		return string(raw)
	}
	return string(text)
}

// TestShortcuts compares what is seen at a glance with what is found at length, for texts that
// are drawn and changed.
func TestShortcuts(t *testing.T) {
	draws := 100_000
	if testing.Short() {
		draws = 5_000
	}
	texts, r, hazards := shortcutTexts(), rand.New(rand.NewPCG(47, 2)), 0
	for i := range draws {
		text := mutated(r, texts)
		if i < len(texts) {
			text = texts[i]
		}
		checkShortcuts(t, text)
		hazards += len(TextHazards([]byte(text)))
	}
	if hazards < draws/50 {
		t.Errorf("%d hazards of %d texts: the draw says too little", hazards, draws)
	}
}

// FuzzShortcuts is TestShortcuts for any text.
func FuzzShortcuts(f *testing.F) {
	for _, text := range shortcutTexts() {
		f.Add(text)
	}
	f.Fuzz(checkShortcuts)
}
