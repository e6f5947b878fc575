package console_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	handler, err := console.New(console.Options{Origin: "https://sign.example.com", RPID: "example.com"})
	testenv.Must(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	response, err := http.Get(url)
	testenv.Must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	testenv.Must(t, err)
	return response, string(body)
}

// TestHeaders checks that every file is served with headers that isolate the page and forbid
// markup from data.
func TestHeaders(t *testing.T) {
	server := newServer(t)
	for path, contentType := range map[string]string{
		"":            "text/html; charset=utf-8",
		"app.js":      "text/javascript; charset=utf-8",
		"view.js":     "text/javascript; charset=utf-8",
		"wire.js":     "text/javascript; charset=utf-8",
		"style.css":   "text/css; charset=utf-8",
		"config.json": "application/json",
	} {
		response, _ := get(t, server.URL+console.Path+path)
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != contentType {
			t.Errorf("%s: status %d, %s", path, response.StatusCode, response.Header.Get("Content-Type"))
		}
		for name, want := range map[string]string{
			"Content-Security-Policy":    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
			"Cross-Origin-Opener-Policy": "same-origin",
			"X-Content-Type-Options":     "nosniff",
			"Cache-Control":              "no-store",
			"Referrer-Policy":            "no-referrer",
		} {
			if got := response.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if strings.Contains(response.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: unsafe content is allowed", path)
		}
	}
	if response, _ := get(t, server.URL+console.Path+"../../console.go"); response.StatusCode == http.StatusOK {
		t.Error("a file outside the page is served")
	}
}

// TestNoThirdParty checks that no file of the page names another host, or contains inline
// script or style, or turns text into markup.
func TestNoThirdParty(t *testing.T) {
	server := newServer(t)
	forbidden := regexp.MustCompile(`https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|localStorage|sessionStorage|document\.cookie|<script>|<style|style="|javascript:`)
	for _, path := range []string{"", "app.js", "view.js", "wire.js", "style.css"} {
		if _, body := get(t, server.URL+console.Path+path); forbidden.MatchString(body) {
			t.Errorf("%s: %s", path, forbidden.FindString(body))
		}
	}
}

// TestOptions checks that origins that no browser would report, and domains whose passkeys the
// page could not use, are refused by name.
func TestOptions(t *testing.T) {
	for _, test := range []struct{ origin, rpID, problem string }{
		{"", "example.com", "origin"},
		{"sign.example.com", "example.com", "origin"},
		{"https://sign.example.com/", "example.com", "origin"},
		{"https://user@sign.example.com", "example.com", "origin"},
		{"http://sign.example.com", "example.com", "https"},
		{"https://Sign.example.com", "example.com", "origin"},
		{"https://sign.example.com", "", "rpId"},
		{"https://sign.example.com", "ample.com", "rpId"},
		{"https://sign.example.com", "other.example.com", "rpId"},
	} {
		if _, err := console.New(console.Options{Origin: test.origin, RPID: test.rpID}); err == nil || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	for _, origin := range []string{"https://example.com", "https://sign.example.com:8443", "http://localhost:8080"} {
		rpID := "example.com"
		if strings.Contains(origin, "localhost") {
			rpID = "localhost"
		}
		if _, err := console.New(console.Options{Origin: origin, RPID: rpID}); err != nil {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
