package pkcs11

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// MaxURI is the maximum length of a URI in bytes.
const MaxURI = 4096

// maxSessions is the largest number of sessions that can be configured.
const maxSessions = 1024

// URI has the attributes of a PKCS#11 URI (RFC 7512) that this package supports:
//
//	pkcs11:token=prod;serial=0123?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/pin
//	       └─ path: token, object ─┘ └─ query: how it is reached
//
// Other attributes are refused, whether RFC 7512 defines them or not: using the wrong token
// is worse than an error.
type URI struct {
	Token        string // label of the token
	Serial       string // serial number of the token
	Manufacturer string
	Model        string
	SlotID       *uint // slot-id; less stable than a label or a serial number

	Object string // CKA_LABEL of one object: for OpenProofSigner
	ID     []byte // CKA_ID of one object: for OpenProofSigner

	ModulePath string // absolute path of the PKCS#11 module
	PINSource  string // path of the file with the user's PIN

	Organization string // countersign-organization: the organization that the whole token belongs to
	Sessions     int    // countersign-sessions: maximum number in use

	// RetryPIN, countersign-retry-pin=yes, allows a login although the token reports that the last
	// PIN was wrong, or that one more wrong PIN locks it. Without it, the error is ErrPIN: a program
	// that is restarted repeatedly with a wrong PIN would lock the token.
	RetryPIN bool
}

// ParseURI reads a PKCS#11 URI. Errors name the attribute and the byte offset in the text,
// and never quote a value, which might be a misplaced PIN.
func ParseURI(text string) (URI, error) {
	if len(text) > MaxURI {
		return URI{}, fmt.Errorf("pkcs11 uri: longer than %d bytes", MaxURI)
	}
	const scheme = "pkcs11:"
	if !strings.HasPrefix(text, scheme) {
		return URI{}, errors.New("pkcs11 uri: does not begin with the scheme pkcs11")
	}
	path, query, _ := strings.Cut(text[len(scheme):], "?")
	var uri URI
	if err := eachAttribute(path, ';', len(scheme), pathReserved, uri.setPath); err != nil {
		return URI{}, err
	}
	if err := eachAttribute(query, '&', len(scheme)+len(path)+1, queryReserved, uri.setQuery); err != nil {
		return URI{}, err
	}
	return uri, nil
}

// The characters that need no encoding in values: unreserved of RFC 3986, and pk11-path-res-avail and
// pk11-query-res-avail of RFC 7512, section 2.3.
const (
	unreserved    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	pathReserved  = ":[]@!$'()*+,=&"
	queryReserved = ":[]@!$'()*+,=/?|"
)

// eachAttribute splits name=value pairs and passes them to set, decoded.
func eachAttribute(text string, separator byte, offset int, reserved string, set func(name, value string) error) error {
	seen := map[string]bool{}
	for text != "" {
		pair, rest, more := strings.Cut(text, string(separator))
		name, encoded, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return fmt.Errorf("pkcs11 uri: byte %d: expected an attribute name=value", offset)
		}
		if seen[name] {
			return fmt.Errorf("pkcs11 uri: byte %d: duplicate attribute %q", offset, shorten(name))
		}
		seen[name] = true
		value, err := decodeValue(encoded, reserved, offset+len(name)+1)
		if err == nil {
			err = set(name, value)
		}
		if err != nil {
			return fmt.Errorf("pkcs11 uri: byte %d: %s: %w", offset, shorten(name), err)
		}
		if more && rest == "" {
			return fmt.Errorf("pkcs11 uri: byte %d: no attribute after the last %q", offset+len(pair), separator)
		}
		offset += len(pair) + 1
		text = rest
	}
	return nil
}

// shorten truncates an attribute name, which might be a misplaced value, for an error.
func shorten(name string) string { return plaintext.Shorten(name, 32) }

func decodeValue(encoded, reserved string, offset int) (string, error) {
	decoded := make([]byte, 0, len(encoded))
	for i := 0; i < len(encoded); i++ {
		c := encoded[i]
		switch {
		case c == '%':
			b, err := strconv.ParseUint(encoded[i+1:min(i+3, len(encoded))], 16, 8)
			if err != nil || i+2 >= len(encoded) {
				return "", fmt.Errorf("byte %d: %% is not followed by two hex digits", offset+i)
			}
			decoded = append(decoded, byte(b))
			i += 2
		case strings.IndexByte(unreserved, c) >= 0 || strings.IndexByte(reserved, c) >= 0:
			decoded = append(decoded, c)
		default:
			return "", fmt.Errorf("byte %d: this character must be written %%%02X", offset+i, c)
		}
	}
	return string(decoded), nil
}

func (u *URI) setPath(name, value string) (err error) {
	if name == "id" { // the only attribute that is bytes, not text
		u.ID = []byte(value)
		if value == "" {
			return errors.New("empty")
		}
		return nil
	}
	if err := checkText(value); err != nil {
		return err
	}
	switch name {
	case "token":
		u.Token = value
	case "serial":
		u.Serial = value
	case "manufacturer":
		u.Manufacturer = value
	case "model":
		u.Model = value
	case "object":
		u.Object = value
	case "slot-id":
		u.SlotID, err = parseSlot(value)
	case "type":
		if value != "private" {
			err = errors.New("only type=private is supported")
		}
	case "library-manufacturer", "library-description", "library-version", "slot-description", "slot-manufacturer":
		err = errors.New("not supported: select the token by token, serial, manufacturer, model or slot-id")
	default:
		err = errors.New("unknown attribute")
	}
	return err
}

func (u *URI) setQuery(name, value string) (err error) {
	if name == "pin-value" {
		return errors.New("a PIN does not belong in a URI, where others can read it: put it into a file and write pin-source=file:/PATH")
	}
	if err := checkText(value); err != nil {
		return err
	}
	switch name {
	case "module-path":
		u.ModulePath = value
		if !strings.HasPrefix(value, "/") {
			err = errors.New("not an absolute path")
		}
	case "module-name":
		err = errors.New("not supported: write module-path with the absolute path of the module")
	case "pin-source":
		u.PINSource, err = parsePINSource(value)
	case "countersign-organization":
		u.Organization = value
	case "countersign-sessions":
		u.Sessions, err = parseSessions(value)
	case "countersign-retry-pin":
		if u.RetryPIN = value == "yes"; !u.RetryPIN {
			err = errors.New("only countersign-retry-pin=yes is supported")
		}
	default:
		err = errors.New("unknown attribute")
	}
	return err
}

func checkText(value string) error {
	switch {
	case value == "":
		return errors.New("empty")
	case strings.IndexByte(value, 0) >= 0:
		return errors.New("a zero byte")
	case !utf8.ValidString(value):
		return errors.New("not UTF-8")
	}
	return nil
}

// parsePINSource accepts a path, or a file URI of this host. Commands, which RFC 7512 also
// allows, are not supported.
func parsePINSource(value string) (string, error) {
	path := value
	if rest, isURI := strings.CutPrefix(value, "file:"); isURI {
		path = rest
		if authority, isLong := strings.CutPrefix(rest, "//"); isLong {
			path = strings.TrimPrefix(authority, "localhost")
		}
	}
	if !strings.HasPrefix(path, "/") {
		return "", errors.New("not the absolute path of a file: write pin-source=file:/PATH")
	}
	return path, nil
}

func parseSlot(value string) (*uint, error) {
	number, err := strconv.ParseUint(value, 10, 32)
	if err != nil || strconv.FormatUint(number, 10) != value {
		return nil, errors.New("not a decimal number")
	}
	slot := uint(number)
	return &slot, nil
}

func parseSessions(value string) (int, error) {
	number, err := strconv.Atoi(value)
	if err != nil || strconv.Itoa(number) != value || number < 1 || number > maxSessions {
		return 0, fmt.Errorf("not a number from 1 to %d", maxSessions)
	}
	return number, nil
}

// Check reads a URI as Open does, and refuses one that cannot be opened whatever the token has:
// without a module or a token in it, or by a program built without cgo.
func Check(text string) (URI, error) {
	uri, err := ParseURI(text)
	switch {
	case err != nil:
	case uri.ModulePath == "":
		err = errors.New("pkcs11 uri: module-path is missing: write ?module-path=/PATH/OF/THE/MODULE.so")
	case uri.Token == "" && uri.Serial == "" && uri.SlotID == nil:
		err = errors.New("pkcs11 uri: it selects no token: write token=LABEL or serial=NUMBER")
	default:
		err = errNoCgo
	}
	return uri, err
}
