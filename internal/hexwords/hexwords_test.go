package hexwords

import (
	"encoding/hex"
	"strings"
	"testing"
)

// Every byte in every place of a word, and in what is behind the last one.
func TestDecodeTakesHexDigitsOnly(t *testing.T) {
	for length := 2; length <= 104; length += 2 {
		for place := range length {
			for char := range 256 {
				text := []byte(strings.Repeat("7", length))
				text[place] = byte(char)
				want, err := hex.DecodeString(string(text))
				out := make([]byte, length/2)
				if ok := Decode(out, string(text)); ok != (err == nil) {
					t.Fatalf("%q: %v, encoding/hex says %v", text, ok, err)
				}
				if err == nil && string(out) != string(want) {
					t.Fatalf("%q: %x, want %x", text, out, want)
				}
			}
		}
	}
}

// Every byte in every place.
func TestAppend(t *testing.T) {
	for length := range 70 {
		for place := range length {
			for value := range 256 {
				raw := make([]byte, length)
				raw[place] = byte(value)
				if got, want := string(Append([]byte("0x"), raw)), "0x"+hex.EncodeToString(raw); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text := strings.Repeat("0123456789abcdef", 15)
	out := make([]byte, len(text)/2)
	for b.Loop() {
		Decode(out, text)
	}
}

func BenchmarkAppend(b *testing.B) {
	raw := []byte(strings.Repeat("0123456789abcdef", 12))
	out := make([]byte, 0, 2*len(raw))
	for b.Loop() {
		Append(out, raw)
	}
}
