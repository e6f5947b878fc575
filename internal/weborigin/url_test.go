package weborigin_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/otp/webhook"
)

// TestURLs: a port that does not exist, and a % that begins no escape, are refused by whatever
// connects to the URL.
func TestURLs(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://e.example": true, "https://e.example:1/": true, "https://e.example:65535/a%20b?c=%41#%42": true, "https://[::1]:8443/": true,
		"https://e.example:0/": false, "https://e.example:65536/": false, "https://e.example:99999/": false, "https://e.example:-1/": false,
		"https://e.example/%d-": false, "https://e.example/?a=%d": false, "https://e.example/?a=%": false, "https://e.example/#%zz": false, "https://e.example/?%4": false,
	} {
		_, err := weborigin.ParseURL(text)
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if err := webhook.CheckURL(text); (err == nil) != ok {
			t.Errorf("webhook %s: %v", text, err)
		}
		if !ok {
			if _, err := weborigin.Parse(text); err == nil {
				t.Errorf("origin %s: taken", text)
			}
		}
	}
}
