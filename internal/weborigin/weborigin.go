// Package weborigin checks origins and domains for the form in which browsers report
// them. Any other form matches nothing.
package weborigin

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// Parse parses an origin, such as https://app.example.com.
func Parse(text string) (*url.URL, error) {
	origin, err := url.Parse(text)
	if err != nil || origin.Host == "" || text != strings.ToLower(origin.Scheme+"://"+origin.Host) {
		return nil, fmt.Errorf("%q: use scheme, host and port alone, in lower case, such as https://app.example.com", text)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil, fmt.Errorf("%q: use Punycode for letters beyond ASCII, as browsers do, such as https://xn--bcher-kva.example", text)
	}
	if port := origin.Port(); strings.HasSuffix(origin.Host, ":") || port != "" && port == defaultPorts[origin.Scheme] {
		return nil, fmt.Errorf("%q: leave out the port, as browsers do with the scheme's default", text)
	}
	return origin, nil
}

// defaultPorts are the ports that browsers leave out (WHATWG URL, special schemes).
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// appPrefix begins the origin of an Android app, which the hash of its certificate names.
const appPrefix = "android:apk-key-hash:"

// CheckPasskey returns an error unless text is an origin of which stamps by a passkey
// can be: that of a page or of an Android app.
func CheckPasskey(text string) error {
	if strings.HasPrefix(text, appPrefix) {
		return nil
	}
	_, err := Parse(text)
	return err
}

// CheckDomain returns an error unless text is a domain without anything else, such as
// example.com.
func CheckDomain(text string) error {
	if origin, err := Parse("https://" + text); err != nil || origin.Hostname() != text {
		return fmt.Errorf("%q: use the domain alone, in lower case, such as example.com", text)
	}
	return nil
}
