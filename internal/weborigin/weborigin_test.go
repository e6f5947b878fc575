package weborigin_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/weborigin"
)

func TestOrigins(t *testing.T) {
	for text, valid := range map[string]bool{
		"https://app.example.com":         true,
		"https://app.example.com:8443":    true,
		"http://localhost:8080":           true,
		"chrome-extension://abcdefghijkl": true,
		"https://app.example.com/":        false,
		"https://app.example.com/a":       false,
		"https://app.example.com?a":       false,
		"https://app.example.com:443":     false,
		"https://app.example.com:":        false,
		"http://app.example.com:443":      true,
		"http://localhost:80":             false,
		"https://bücher.example":          false,
		"https://b\u0080cher.example":     false,
		"https://xn--bcher-kva.example":   true,
		"https://user@app.example.com":    false,
		"https://App.example.com":         false,
		"HTTPS://app.example.com":         false,
		"app.example.com":                 false,
		"//app.example.com":               false,
		"https://":                        false,
		"https://app.example.com ":        false,
		"android:apk-key-hash:abc":        false,
		"*":                               false,
		"null":                            false,
		"":                                false,
	} {
		if _, err := weborigin.Parse(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
		if err := weborigin.CheckPasskey(text); (err == nil) != (valid || text == "android:apk-key-hash:abc") {
			t.Errorf("%q of a passkey: %v", text, err)
		}
	}
}

func TestCheckDomain(t *testing.T) {
	for text, valid := range map[string]bool{
		"example.com": true, "sign.example.com": true, "localhost": true,
		"https://example.com": false, "example.com:8443": false, "example.com/": false, "example .com": false, "Example.com": false,
		"": false, "example.com:443": false, "user@example.com": false, "example.com?a": false, "bücher.example": false, "xn--bcher-kva.example": true,
	} {
		if err := weborigin.CheckDomain(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
