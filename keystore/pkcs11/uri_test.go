package pkcs11

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseURI(t *testing.T) {
	slot := uint(7)
	for text, want := range map[string]URI{
		"pkcs11:":           {},
		"pkcs11:token=prod": {Token: "prod"},
		"pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;manufacturer=Snake%20Oil,%20Inc.;model=1.0;serial=0123": {
			Token: "The Software PKCS#11 Softtoken", Manufacturer: "Snake Oil, Inc.", Model: "1.0", Serial: "0123",
		},
		"pkcs11:object=proof;type=private;id=%69%95%3E%00?pin-source=/etc/token_pin": {
			Object: "proof", ID: []byte{0x69, 0x95, 0x3e, 0}, PINSource: "/etc/token_pin",
		},
		"pkcs11:slot-id=7?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/pin": {
			SlotID: &slot, ModulePath: "/usr/lib/softhsm/libsofthsm2.so", PINSource: "/etc/pin",
		},
		"pkcs11:?pin-source=file:///etc/a%20pin":           {PINSource: "/etc/a pin"},
		"pkcs11:?pin-source=file://localhost/etc/pin":      {PINSource: "/etc/pin"},
		"pkcs11:token=%C3%A9t%c3%a9&=x":                    {Token: "été&=x"},
		"pkcs11:token=a?countersign-organization=6e1f/b?c": {Token: "a", Organization: "6e1f/b?c"},
		"pkcs11:token=a?countersign-sessions=8":            {Token: "a", Sessions: 8},
		"pkcs11:token=a?countersign-retry-pin=yes":         {Token: "a", RetryPIN: true},
	} {
		if got, err := ParseURI(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestParseURIRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "pkcs11 uri: does not begin with the scheme pkcs11",
		"PKCS11:token=a":                        "pkcs11 uri: does not begin with the scheme pkcs11",
		"file:keys":                             "pkcs11 uri: does not begin with the scheme pkcs11",
		"pkcs11:token":                          "pkcs11 uri: byte 7: expected an attribute name=value",
		"pkcs11:=a":                             "pkcs11 uri: byte 7: expected an attribute name=value",
		"pkcs11:;token=a":                       "pkcs11 uri: byte 7: expected an attribute name=value",
		"pkcs11:token=a;":                       "pkcs11 uri: byte 14: no attribute after the last ';'",
		"pkcs11:token=a?module-path=/a&":        "pkcs11 uri: byte 29: no attribute after the last '&'",
		"pkcs11:token=a;token=b":                `pkcs11 uri: byte 15: duplicate attribute "token"`,
		"pkcs11:token=":                         "pkcs11 uri: byte 7: token: empty",
		"pkcs11:id=":                            "pkcs11 uri: byte 7: id: empty",
		"pkcs11:token=a b":                      "pkcs11 uri: byte 7: token: byte 14: this character must be written %20",
		"pkcs11:token=a/b":                      "pkcs11 uri: byte 7: token: byte 14: this character must be written %2F",
		"pkcs11:token=é":                        "pkcs11 uri: byte 7: token: byte 13: this character must be written %C3",
		"pkcs11:token=a%4":                      "pkcs11 uri: byte 7: token: byte 14: % is not followed by two hex digits",
		"pkcs11:token=a%gg":                     "pkcs11 uri: byte 7: token: byte 14: % is not followed by two hex digits",
		"pkcs11:token=a%00":                     "pkcs11 uri: byte 7: token: a zero byte",
		"pkcs11:token=%ff":                      "pkcs11 uri: byte 7: token: not UTF-8",
		"pkcs11:tokens=a":                       "pkcs11 uri: byte 7: tokens: unknown attribute",
		"pkcs11:Token=a":                        "pkcs11 uri: byte 7: Token: unknown attribute",
		"pkcs11:type=public":                    "pkcs11 uri: byte 7: type: only type=private is supported",
		"pkcs11:library-version=3":              "pkcs11 uri: byte 7: library-version: not supported: select the token by token, serial, manufacturer, model or slot-id",
		"pkcs11:slot-id=07":                     "pkcs11 uri: byte 7: slot-id: not a decimal number",
		"pkcs11:slot-id=-1":                     "pkcs11 uri: byte 7: slot-id: not a decimal number",
		"pkcs11:slot-id=4294967296":             "pkcs11 uri: byte 7: slot-id: not a decimal number",
		"pkcs11:module-path=/a":                 "pkcs11 uri: byte 7: module-path: byte 19: this character must be written %2F",
		"pkcs11:?token=a":                       "pkcs11 uri: byte 8: token: unknown attribute",
		"pkcs11:?module-path=softhsm.so":        "pkcs11 uri: byte 8: module-path: not an absolute path",
		"pkcs11:?module-path=":                  "pkcs11 uri: byte 8: module-path: empty",
		"pkcs11:?module-path=/a%00":             "pkcs11 uri: byte 8: module-path: a zero byte",
		"pkcs11:?countersign-organization=%ff":  "pkcs11 uri: byte 8: countersign-organization: not UTF-8",
		"pkcs11:?module-name=softhsm":           "pkcs11 uri: byte 8: module-name: not supported: write module-path with the absolute path of the module",
		"pkcs11:token=a?pin-source=pin":         "pkcs11 uri: byte 15: pin-source: not the absolute path of a file: write pin-source=file:/PATH",
		"pkcs11:?pin-source=|cat%20/etc/pin":    "pkcs11 uri: byte 8: pin-source: not the absolute path of a file: write pin-source=file:/PATH",
		"pkcs11:?pin-source=https://a/b":        "pkcs11 uri: byte 8: pin-source: not the absolute path of a file: write pin-source=file:/PATH",
		"pkcs11:?pin-source=file://host/pin":    "pkcs11 uri: byte 8: pin-source: not the absolute path of a file: write pin-source=file:/PATH",
		"pkcs11:?countersign-retry-pin=1":       "pkcs11 uri: byte 8: countersign-retry-pin: only countersign-retry-pin=yes is supported",
		"pkcs11:?countersign-sessions=0":        "pkcs11 uri: byte 8: countersign-sessions: not a number from 1 to 1024",
		"pkcs11:?countersign-sessions=+4":       "pkcs11 uri: byte 8: countersign-sessions: not a number from 1 to 1024",
		"pkcs11:?countersign-sessions=1025":     "pkcs11 uri: byte 8: countersign-sessions: not a number from 1 to 1024",
		"pkcs11:" + strings.Repeat("a", MaxURI): "pkcs11 uri: longer than 4096 bytes",
	} {
		if _, err := ParseURI(text); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestPINInURIIsNotRepeated: errors may end up in logs that others read, so they must not
// quote the PIN.
func TestPINInURIIsNotRepeated(t *testing.T) {
	for _, text := range []string{
		"pkcs11:token=a?pin-value=s3cret",
		"pkcs11:pin-value=s3cret",
		"pkcs11:token=s3cret?pin-value=%00",
		"pkcs11:token=a?pin-source=s3cret",
		"pkcs11:token=a?pin-source=s3 cret",
		"pkcs11:pin-source=file:s3cret",
	} {
		_, err := ParseURI(text)
		if err == nil || strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err := ParseURI("pkcs11:token=a?pin-value=1234")
	if err == nil || !strings.Contains(err.Error(), "pin-source=file:/PATH") {
		t.Errorf("%v does not say what to do", err)
	}
}
