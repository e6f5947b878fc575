package hexwords

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The words of eight digits are what other processors have: they are tried here
// as well.
var (
	decoders = map[string]func(out []byte, digits string) bool{"Decode": Decode, "decodeWords": decodeWords}
	encoders = map[string]func(out, raw []byte) []byte{"Append": Append, "appendWords": appendWords}
)

// Every byte in every place of a word, of the words around it, and in what is
// behind the last one.
func TestDecodeTakesHexDigitsOnly(t *testing.T) {
	for length := wordDigits; length <= 3*blockDigits+8; length += 2 {
		for place := range length {
			for char := range 256 {
				text := []byte(strings.Repeat("7", length))
				text[place] = byte(char)
				for name, decode := range decoders {
					checkDecode(t, name, decode, string(text))
				}
			}
		}
	}
}

func TestDecodeShort(t *testing.T) {
	for length := 0; length < wordDigits; length += 2 {
		for place := range length {
			for char := range 256 {
				text := []byte(strings.Repeat("7", length))
				text[place] = byte(char)
				checkDecode(t, "Decode", Decode, string(text))
			}
		}
	}
}

func checkDecode(t *testing.T, name string, decode func(out []byte, digits string) bool, text string) {
	t.Helper()
	want, err := hex.DecodeString(text)
	out := make([]byte, len(text)/2)
	if ok := decode(out, text); ok != (err == nil) {
		t.Fatalf("%s(%q): %v, encoding/hex says %v", name, text, ok, err)
	}
	if err == nil && string(out) != string(want) {
		t.Fatalf("%s(%q): %x, want %x", name, text, out, want)
	}
}

// Every byte in every place.
func TestAppend(t *testing.T) {
	for length := range 3*blockBytes + 8 {
		for place := range max(length, 1) {
			for value := range 256 {
				raw := make([]byte, length)
				if length > 0 {
					raw[place] = byte(value)
				}
				for name, encode := range encoders {
					if length < wordBytes && name != "Append" {
						continue
					}
					if got, want := string(encode([]byte("0x"), raw)), "0x"+hex.EncodeToString(raw); got != want {
						t.Fatalf("%s: %s, want %s", name, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text := strings.Repeat("0123456789abcdef", 15)
	out := make([]byte, len(text)/2)
	for name, decode := range decoders {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				decode(out, text)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	raw := []byte(strings.Repeat("0123456789abcdef", 12))
	out := make([]byte, 0, 2*len(raw))
	for name, encode := range encoders {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				encode(out, raw)
			}
		})
	}
}
