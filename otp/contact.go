package otp

import (
	"net/mail"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// Bounds of an e-mail address, in bytes (RFC 5321, section 4.5.3.1).
const (
	maxAddress   = 254
	maxLocalPart = 64
)

// e164 is a phone number as ITU-T E.164 writes it: a plus sign and at most 15
// digits, the first of which is not 0. The shortest in use have 7.
var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// canonicalContact returns a contact in the form in which messages are sent to
// it, and in the form in which it is counted: there the case of the local part
// does not matter either, since hardly a mail server tells Ann from ann.
func canonicalContact(kind Type, contact string) (canonical, counted string, err error) {
	if kind == TypeSMS {
		if !e164.MatchString(contact) {
			return "", "", &ParameterError{Parameter: "contact", Kind: ErrPhone,
				Rule: "not a phone number in E.164: a plus sign, the country code and the number, 7 to 15 digits in all, such as +4915112345678"}
		}
		return contact, contact, nil
	}
	canonical, rule := canonicalEmail(contact)
	if rule != "" {
		return "", "", &ParameterError{Parameter: "contact", Kind: ErrEmail, Rule: rule}
	}
	return canonical, strings.ToLower(canonical), nil
}

// canonicalEmail returns a bare address with its domain in the ASCII form of
// IDNA, or the rule that it breaks.
func canonicalEmail(address string) (canonical, rule string) {
	if len(address) > maxAddress {
		return "", "not an e-mail address: it has more than 254 bytes"
	}
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" {
		return "", "not an e-mail address: one without a display name, comments or quotes is expected, such as ann@example.com"
	}
	at := strings.LastIndexByte(address, '@')
	local, domain := address[:at], address[at+1:]
	if len(local) > maxLocalPart || !isDotAtom(local) {
		return "", "not an e-mail address that we send to: before the @ at most 64 ASCII letters, digits and !#$%&'*+-/=?^_`{|}~. are expected"
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	ascii = strings.TrimSuffix(ascii, ".") // behind it: IDNA knows other full stops
	if err != nil || strings.HasSuffix(ascii, ".") || !strings.Contains(ascii, ".") || len(local)+1+len(ascii) > maxAddress {
		return "", "not an e-mail address: behind the @ the name of a domain is expected, such as example.com, and at most 254 bytes in all"
	}
	return local + "@" + ascii, ""
}

// isDotAtom tells whether a local part needs no quotes (RFC 5322, section
// 3.2.3). The parser has already seen that it is one; what is left is what is
// not ASCII.
func isDotAtom(local string) bool {
	for _, c := range []byte(local) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),:;<>@[\]`, c) >= 0 {
			return false
		}
	}
	return local != ""
}

// domainOf returns the domain of a canonical address.
func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
