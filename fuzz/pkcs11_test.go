package fuzz

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// FuzzPKCS11URI checks that the reader of PKCS#11 URIs (RFC 7512) does not panic,
// that what it accepts is bounded, and that a PIN in a URI is refused without being
// repeated.
func FuzzPKCS11URI(f *testing.F) {
	for _, seed := range []string{
		"pkcs11:token=signer", "pkcs11:token=my%20token;serial=12ab?module-path=/usr/lib/softhsm/libsofthsm2.so",
		"pkcs11:slot-id=1?pin-source=file:/run/pin&countersign-sessions=8", "pkcs11:", "pkcs11:token=%", "file:keys",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if uri, err := pkcs11.ParseURI(text); err == nil && (len(text) > pkcs11.MaxURI || uri.Sessions < 0) {
			t.Errorf("%q is accepted as %+v", text, uri)
		}
		const pin = "correct-horse-battery"
		separator := "?"
		if strings.Contains(text, "?") {
			separator = "&"
		}
		_, err := pkcs11.ParseURI(text + separator + "pin-value=" + pin)
		if err == nil {
			t.Errorf("%q with a PIN in it is accepted", text)
		} else if strings.Contains(err.Error(), pin) && !strings.Contains(text, pin) {
			t.Errorf("the error repeats the PIN: %v", err)
		}
	})
}
