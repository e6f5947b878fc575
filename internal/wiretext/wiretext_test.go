package wiretext_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/wiretext"
)

// utf16Of encodes a text with the given order of bytes, low first or not.
func utf16Of(text string, bigEndian bool) (out []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(unit), byte(unit >> 8)}
		if bigEndian {
			slices.Reverse(pair)
		}
		out = append(out, pair...)
	}
	return out
}

// texts are encodings of raw, by name, and the form in which they are answered.
func texts(raw []byte) map[string][2]string {
	std := base64.StdEncoding.EncodeToString(raw)
	all := map[string][2]string{"hex": {hex.EncodeToString(raw), "hex"}, "0x": {"0x" + hex.EncodeToString(raw), "hex"}, "base64": {std, "base64"},
		"base64 without padding": {base64.RawStdEncoding.EncodeToString(raw), "base64"},
		"base64url":              {base64.URLEncoding.EncodeToString(raw), "base64"},
		"base64url, no padding":  {base64.RawURLEncoding.EncodeToString(raw), "base64"},
		"wrapped base64":         {std[:20] + "\r\n" + std[20:], "base64"},
		"base58":                 {base58.Encode(raw), "base58"}}
	return all
}

// TestRead reads each text in each wrapping.
func TestRead(t *testing.T) {
	for size := 40; size < 44; size++ { // every length of padding
		raw := bytes.Repeat([]byte{0xfb, 0xef, 1, 0}, size)[:size]
		for name, text := range texts(raw) {
			for wrapping, content := range map[string][]byte{
				"plain": []byte(text[0]), "white space": []byte(" \r\n" + text[0] + "\n"), "quotes": []byte(`"` + text[0] + "\"\n"),
				"byte order mark": []byte("\ufeff" + text[0]), "UTF-16LE": utf16Of("\ufeff"+text[0]+"\r\n", false),
				"UTF-16BE": utf16Of("\ufeff"+text[0], true), "UTF-16LE without mark": utf16Of(text[0], false), "UTF-16BE without mark": utf16Of(text[0], true),
			} {
				if wrapping == "quotes" && name == "wrapped base64" {
					continue // JSON has no line ends in strings
				}
				checkReading(t, name+", "+wrapping, content, raw, text[1])
			}
		}
	}
}

func checkReading(t *testing.T, name string, content, raw []byte, form string) {
	t.Helper()
	for _, reading := range wiretext.Read(content) {
		if !bytes.Equal(reading.Raw, raw) {
			continue
		}
		if reading.Form.String() != form {
			t.Errorf("%s: read as %v, want %s", name, reading.Form, form)
		}
		again := wiretext.Read(reading.Form.Encode(raw))
		if !slices.ContainsFunc(again, func(r wiretext.Reading) bool { return r.Form == reading.Form && bytes.Equal(r.Raw, raw) }) {
			t.Errorf("%s: written as %s, which is read otherwise", name, reading.Form.Encode(raw))
		}
		return
	}
	t.Errorf("%s: not read: %q", name, content)
}

// TestFormIsKept: base64 is answered in the alphabet and with the padding of the question.
func TestFormIsKept(t *testing.T) {
	raw := bytes.Repeat([]byte{0xfb, 0xef}, 20)
	for name, text := range texts(raw) {
		if name == "0x" || name == "wrapped base64" {
			continue
		}
		readings := wiretext.Read([]byte(text[0]))
		if !slices.ContainsFunc(readings, func(r wiretext.Reading) bool { return string(r.Form.Encode(r.Raw)) == text[0] }) {
			t.Errorf("%s: %s is not written back", name, text[0])
		}
	}
}

func TestNotRead(t *testing.T) {
	for _, content := range []string{"", " ", `""`, "0x", "{}", "cHNidP8=x", "cHNidP9=", "\xff\xfea", "hello world!", "\x00\x01"} {
		if readings := wiretext.Read([]byte(content)); len(readings) > 0 {
			t.Errorf("%q: %v", content, readings)
		}
	}
	if readings := wiretext.Read(bytes.Repeat([]byte("z"), 1<<20)); len(readings) != 1 || readings[0].Form == wiretext.Base58 {
		t.Errorf("%d readings of 1 MiB", len(readings))
	}
}

// FuzzRead checks that what is read can be written in its form and read again.
func FuzzRead(f *testing.F) {
	for _, text := range texts([]byte("some transaction of forty bytes or more…")) {
		f.Add([]byte(text[0]))
		f.Add(utf16Of("\ufeff"+text[0], true))
		f.Add([]byte(`"` + text[0] + `"`))
	}
	f.Add([]byte("psbt\xff\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, reading := range wiretext.Read(content) {
			again := wiretext.Read(reading.Form.Encode(reading.Raw))
			if !slices.ContainsFunc(again, func(r wiretext.Reading) bool { return bytes.Equal(r.Raw, reading.Raw) }) && reading.Form != wiretext.Binary {
				// Base58 or base64 that is also hex is read as hex.
				if _, err := hex.DecodeString(string(reading.Form.Encode(reading.Raw))); err != nil {
					t.Errorf("%q: %v %x is written as %q", content, reading.Form, reading.Raw, reading.Form.Encode(reading.Raw))
				}
			}
		}
	})
}
