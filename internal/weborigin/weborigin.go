// Package weborigin checks origins and domains for the form in which browsers report
// them. Any other form matches nothing.
package weborigin

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// ParseURL is url.Parse for a URL that is to be connected to or opened: its port exists, and each
// % begins an escape, in the query too.
func ParseURL(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if port := parsed.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return nil, fmt.Errorf("port %s: expected 1 to 65535", port)
		}
	}
	_, err = url.PathUnescape(text)
	return parsed, err
}

// Parse parses an origin, such as https://app.example.com.
func Parse(text string) (*url.URL, error) {
	origin, err := ParseURL(text)
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

// CheckDomain returns an error unless text is a domain without anything else, such as example.com.
func CheckDomain(text string) error {
	if origin, err := Parse("https://" + text); err != nil || origin.Hostname() != text {
		return fmt.Errorf("%q: use the domain alone, in lower case, such as example.com", text)
	}
	return nil
}

// NeverMatches returns why no browser reports an origin that Parse accepts; empty if one may.
func NeverMatches(text string) string {
	if strings.Contains(text, "*") {
		return fmt.Sprintf("%q never matches: origins are compared as a whole, and * stands for nothing: list each origin", text)
	}
	return ""
}

// NeverMatchesPasskey returns why no stamp of a passkey is of an origin that CheckPasskey
// accepts; empty if one may be.
func NeverMatchesPasskey(text string) string {
	if hash, app := strings.CutPrefix(text, appPrefix); app {
		return neverAnApp(text, hash)
	}
	if origin, err := Parse(text); err == nil && isIP(origin.Hostname()) {
		return fmt.Sprintf("%q never matches: browsers use passkeys only at a domain, not at an IP address", text)
	}
	return NeverMatches(text)
}

// neverAnApp returns why Android reports no such hash: it is the SHA-256 of the app's
// certificate in base64url without padding.
func neverAnApp(text, hash string) string {
	if decoded, err := base64.RawURLEncoding.Strict().DecodeString(hash); err == nil && len(decoded) == sha256.Size {
		return ""
	}
	why := fmt.Sprintf("%q never matches: Android reports the SHA-256 of the certificate in base64url, 43 characters", text)
	if decoded, err := hex.DecodeString(strings.ReplaceAll(hash, ":", "")); err == nil && len(decoded) == sha256.Size {
		why += ": write " + appPrefix + base64.RawURLEncoding.EncodeToString(decoded)
	}
	return why
}

// NeverADomain returns why no passkey belongs to a domain that CheckDomain accepts; empty if
// one may.
func NeverADomain(text string) string {
	if isIP(text) || strings.Contains(text, "*") {
		return fmt.Sprintf("rpId %q never matches: a passkey belongs to one domain, not to an IP address or a pattern", text)
	}
	return ""
}

// IsLoopback reports whether a host is this machine, whose connections no one else reads.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}
