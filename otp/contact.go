package otp

import (
	"net/mail"
	"strings"

	"golang.org/x/net/idna"
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

// isNumber reports whether a label is one that URLs take for a part of an IPv4 address
// (URL Standard, "ends in a number"): digits, or hexadecimal ones after 0x. No top-level
// domain is.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	set := "0123456789"
	if hex {
		set += "abcdef"
	}
	return strings.Trim(digits, set) == ""
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
