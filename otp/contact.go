package otp

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/idna"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// The longest e-mail address and local part, in bytes (RFC 5321, section 4.5.3.1).
const (
	maxAddress   = 254
	maxLocalPart = 64
)

// canonicalContact returns the form of a contact by which a policy judges it, limits count it,
// messages are sent to it, and tokens name it. It is in lower case, since hardly any mail
// server distinguishes Ann from ann. What else leads to one mailbox, such as ann+1@ or a.nn@
// with some providers, only the provider knows.
func canonicalContact(kind Type, contact string) (canonical string, err error) {
	reason, rule := ErrPhone, ""
	if kind == TypeSMS {
		canonical, rule = canonicalPhone(contact)
	} else {
		reason = ErrEmail
		canonical, rule = canonicalEmail(contact)
	}
	if rule != "" {
		return "", &ParameterError{Parameter: "contact", Kind: reason, Rule: rule}
	}
	return strings.ToLower(canonical), nil
}

// canonicalEmail returns a bare address with its domain in the ASCII form of IDNA,
// or the rule that the address breaks.
//
// A local part in other letters (RFC 6531) is refused: not every server on the way accepts
// it, so that codes would not arrive, and characters that look alike or show nothing would
// make one address look like another in the token.
func canonicalEmail(address string) (canonical, rule string) {
	if len(address) > maxAddress {
		return "", "not an e-mail address: longer than 254 bytes"
	}
	if rule := badLocalPart(address[:max(strings.LastIndexByte(address, '@'), 0)]); rule != "" {
		return "", rule
	}
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" {
		return "", "not an e-mail address: expected one without display name, comments or quotes, such as ann@example.com"
	}
	local, domain := address[:strings.LastIndexByte(address, '@')], domainOf(address)
	if len(local) > maxLocalPart || !isDotAtom(local) {
		return "", "unsupported e-mail address: the part before @ may have at most 64 ASCII letters, digits and #$&'*+-/=?^_`{|}~."
	}
	if hasEncodedWord(local) || strings.ContainsAny(local, "%!") {
		return "", "unsupported e-mail address: the part before @ has %, ! or =?, which mail programs read as another address"
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	ascii = strings.TrimSuffix(ascii, ".") // only now: IDNA maps other full stops to this one
	if err != nil || strings.HasSuffix(ascii, ".") || !strings.Contains(ascii, ".") || len(local)+1+len(ascii) > maxAddress {
		return "", "not an e-mail address: expected a domain name after the @, such as example.com, and at most 254 bytes in total"
	}
	if isNumber(ascii[strings.LastIndexByte(ascii, '.')+1:]) {
		return "", "not an e-mail address: the last label of the domain is a number, as in an IP address"
	}
	return local + "@" + ascii, ""
}

// badLocalPart says why a local part that exists is not supported; empty if it may be.
func badLocalPart(local string) string {
	for _, c := range local {
		if c >= 0x80 {
			return "unsupported e-mail address: the part before @ has characters other than ASCII, which many mail " +
				"servers refuse: use another address of the person"
		}
	}
	if strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
		return "unsupported e-mail address: the part before @ begins or ends with a dot or has two in a row, which " +
			"mail servers must refuse (RFC 5321): use another address of the person"
	}
	return ""
}

// isDotAtom reports whether a local part, which the parser has accepted, is ASCII
// and needs no quotes (RFC 5322, section 3.2.3).
func isDotAtom(local string) bool {
	for _, c := range []byte(local) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),:;<>@[\]`, c) >= 0 {
			return false
		}
	}
	return local != ""
}

// isNumber reports whether a label is one that URLs take for a part of an IPv4 address (URL
// Standard, "ends in a number"): digits, or hexadecimal ones after 0x. No top-level domain is.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	set := "0123456789"
	if hex {
		set += "abcdef"
	}
	return strings.Trim(digits, set) == ""
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// e164 matches a phone number in the form of ITU-T E.164: a plus sign and at most 15
// digits, the first of which is not 0. The shortest numbers in use have 7.
var e164 = plaintext.NewPattern(`^\+[1-9][0-9]{6,14}$`)

// maxCallingCode is the length of the longest calling code. No code begins with another.
const maxCallingCode = 3

// costlyServices are the calling codes that belong to no country and cost more than a
// message to one. Source: ITU-T, "List of Recommendation ITU-T E.164 assigned country codes",
// whose global services and networks libphonenumber's metadata repeats.
var costlyServices = map[string]string{
	"808": "shared-cost", "870": "satellite", "878": "personal", "881": "satellite",
	"882": "international network's", "883": "international network's", "888": "disaster relief", "979": "premium-rate",
}

// numbering is what is known of the numbers after a country's calling code.
type numbering struct {
	Costly  *regexp.Regexp `json:"costly"`  // premium-rate and shared-cost numbers
	Longest int            `json:"longest"` // digits of the longest mobile numbers; 0 if not known
	Zero    bool           `json:"zero"`    // numbers can begin with zero
}

// ranges is what tools/phoneranges printed.
//
//go:embed ranges.json
var ranges []byte

// numberings are the countries' numberings by calling code, which are read at the first number.
var numberings = sync.OnceValue(func() map[string]numbering {
	var file struct{ Codes map[string]numbering }
	if err := json.Unmarshal(ranges, &file); err != nil {
		panic("otp: ranges.json: " + err.Error())
	}
	return file.Codes
})

// canonicalPhone returns a phone number without the zero that is dialled within its country, which
// networks drop, or the rule that the number breaks. Digits beyond the longest mobile numbers of
// the country are ignored by some networks: with them, one phone would have many numbers.
func canonicalPhone(number string) (canonical, rule string) {
	const malformed = "not an E.164 phone number: expected a plus sign, the country code and the number, 7 to 15 " +
		"digits in total, such as +4915112345678"
	if !e164.MatchString(number) {
		return "", malformed
	}
	for n := 1; n <= maxCallingCode; n++ {
		code, national := number[1:1+n], number[1+n:]
		of := numberings()[code]
		if of.Longest == 0 {
			continue
		}
		if !of.Zero {
			national = strings.TrimPrefix(national, "0")
		}
		canonical = "+" + code + national
		if !e164.MatchString(canonical) || !of.Zero && strings.HasPrefix(national, "0") {
			return "", malformed
		}
		if len(national) > of.Longest {
			return "", fmt.Sprintf("too long: mobile numbers have at most %d digits after +%s", of.Longest, code)
		}
		return canonical, ""
	}
	return number, ""
}

// costly returns how a number is charged if it is in a range that costs more than messages
// to ordinary numbers, and its calling code.
func costly(number string) (charged, code string) {
	digits := strings.TrimPrefix(number, "+")
	for n := 1; n <= min(maxCallingCode, len(digits)); n++ {
		code = digits[:n]
		if charged := costlyServices[code]; charged != "" {
			return charged, code
		}
		if pattern := numberings()[code].Costly; pattern != nil {
			if pattern.MatchString(digits[n:]) {
				return "premium-rate or shared-cost", code
			}
			return "", code
		}
	}
	return "", ""
}

// countries are prefixes of the numbers that text messages are sent to: all if there are none.
type countries []string

var prefixForm = plaintext.NewPattern(`^\+[1-9][0-9]{0,14}$`)

// CheckCountry returns an error unless Config.Countries may contain the text.
func CheckCountry(prefix string) error {
	if !prefixForm.MatchString(prefix) {
		return fmt.Errorf("%.20q is not the beginning of a phone number: expected a plus sign and digits, such as +49", prefix)
	}
	return nil
}

func (c countries) check() error {
	for _, prefix := range c {
		if err := CheckCountry(prefix); err != nil {
			return fmt.Errorf("otp: countries: %w", err)
		}
	}
	return nil
}

// rule returns the rule that a number breaks. A costly one must be named: a service by
// its calling code, a range within a country by more than the country's.
func (c countries) rule(number string) string {
	charged, code := costly(number)
	need := 0
	if charged != "" {
		need = len("+") + len(code)
		if costlyServices[code] == "" {
			need++
		}
	}
	switch {
	case slices.ContainsFunc(c, func(prefix string) bool { return len(prefix) >= need && strings.HasPrefix(number, prefix) }):
		return ""
	case charged != "":
		return "a " + charged + " number: no text messages are sent to it here"
	case len(c) > 0:
		return "no text messages are sent to numbers of this country here"
	}
	return ""
}
