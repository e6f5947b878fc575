package syntax_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/syntax"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a pays b…":             "a pays b…",
		"café":                  "café",
		"a\nallow: request":     "a allow: request",
		"a\u2028b\u202eb\ufe0f": "a b b ",
		"\u200b\u3164\u2800":    "   ",
	} {
		if got := syntax.Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}
