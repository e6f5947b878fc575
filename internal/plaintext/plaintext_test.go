package plaintext_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

func TestProblem(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"Grüße, 世界 \U0001f600":  "",
		"a\tb\nc\r\nd":          "",
		"a\xff":                 "the message is not UTF-8",
		"\xed\xa0\x80":          "the message is not UTF-8", // a surrogate
		"a\rb":                  "the message has the control character U+000D at byte 1",
		"a\r":                   "the message has the control character U+000D at byte 1",
		"\r\r\n":                "the message has the control character U+000D at byte 0",
		"ü\x00":                 "the message has the control character U+0000 at byte 2",
		"\x1b[2K":               "the message has the control character U+001B at byte 0",
		"a\x7f":                 "the message has the control character U+007F at byte 1",
		"a\u0085":               "the message has the control character U+0085 at byte 1",
		"pay \u202eecila":       "the message has the control character U+202E at byte 4",
		"left\u200e to right":   "the message has the control character U+200E at byte 4",
		"isolated \u2066":       "the message has the control character U+2066 at byte 9",
		"joined \u200d is fine": "",
	} {
		if got := plaintext.Problem([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aüb", 2, "a…"}, // not within a character
		{"aüb", 3, "aü…"},
	} {
		if got := plaintext.Shorten(c.text, c.limit); got != c.want {
			t.Errorf("%q in %d bytes: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, r := range "aß世é $₮😀 " {
		if !plaintext.Visible(r) {
			t.Errorf("%U is not visible", r)
		}
	}
	for _, r := range "\x00\n\x7f\u00a0\u00ad\u034f\u115f\u200b\u202e\u2003\u2800\u3164\ufe0f\ufeff\uffa0\U000e0100" {
		if plaintext.Visible(r) {
			t.Errorf("%U is visible", r)
		}
	}
}
