package texts_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

const (
	signInAddress = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	signInText    = "https://example.com wants you to sign in with your Ethereum account:\n" + signInAddress + `

I accept the terms.

URI: https://example.com/login
Version: 1
Chain ID: 1
Nonce: 32891756
Issued At: 2025-11-20T12:00:00Z
Expiration Time: 2025-11-20T13:00:00Z
Not Before: 2025-11-20T12:00:00Z
Request ID: 7
Resources:
- https://example.com/a
- https://example.com/b`
)

// TestParseSignIn changes one thing at a time in a sign-in with all members.
func TestParseSignIn(t *testing.T) {
	for name, test := range map[string]struct {
		old, changed string
		want         bool
	}{
		"as it is":                   {"", "", true},
		"without a scheme":           {"https://example.com wants", "example.com wants", true},
		"without a statement":        {"\n\nI accept the terms.\n\n", "\n\n\n", true},
		"and without its empty line": {"\n\nI accept the terms.\n\n", "\n\n", true},
		"never expires":              {"Expiration Time: 2025-11-20T13:00:00Z\n", "", true},
		"valid at once":              {"Not Before: 2025-11-20T12:00:00Z\n", "", true},
		"without an id":              {"Request ID: 7\n", "", true},
		"without resources":          {"\nResources:\n- https://example.com/a\n- https://example.com/b", "", true},
		"no resource":                {"\n- https://example.com/a\n- https://example.com/b", "", true},
		"fractions of a second":      {"Issued At: 2025-11-20T12:00:00Z", "Issued At: 2025-11-20T12:00:00.123+01:00", true},
		"a nonce of 8":               {"32891756", "12345678", true},

		"a nonce with dashes":         {"32891756", "3289-1756_a", true},
		"a nonce with a dot":          {"32891756", "32891756.", false},
		"a chain in hex":              {"Chain ID: 1", "Chain ID: 0x1", false},
		"a chain in words":            {"Chain ID: 1", "Chain ID: one", false},
		"a negative chain":            {"Chain ID: 1", "Chain ID: -1", false},
		"full-width digits":           {"Chain ID: 1", "Chain ID: １", false},
		"a large chain":               {"Chain ID: 1", "Chain ID: 9218438534861846528", true},
		"a resource of IPFS":          {"- https://example.com/b", "- ipfs://bafy/", true},
		"a resource that is none":     {"- https://example.com/b", "- not a uri", false},
		"a resource without a scheme": {"- https://example.com/b", "- /b", false},
		"a Cyrillic domain":           {"https://example.com wants", "https://exаmple.com wants", false},
		"punycode":                    {"https://example.com wants", "https://xn--exmple-4nf.com wants", true},
		"a user in the domain":        {"https://example.com wants", "https://example.com@evil.org wants", false},
		"an address of IPv6":          {"https://example.com wants", "https://[::1]:3000 wants", true},
		"a host and a port":           {"https://example.com wants", "localhost:3000 wants", true},
		"a label of dashes":           {"https://example.com wants", "https://-.com wants", false},
		"a URI without a scheme":      {"URI: https://example.com/login", "URI: example.com/login", false},
		"a URI with a space":          {"URI: https://example.com/login", "URI: https://example.com/log in", false},
		"a URI in Cyrillic":           {"URI: https://example.com/login", "URI: https://exаmple.com/", false},
		"half an escape":              {"URI: https://example.com/login", "URI: https://example.com/%2", false},
		"an id with a space":          {"Request ID: 7", "Request ID: 7 8", false},
		"an address without 0x":       {signInAddress, signInAddress[2:] + "aa", false},
		"a nonce of 7":                {"32891756", "1234567", false},
		"without a nonce":             {"Nonce: 32891756\n", "", false},
		"without a URI":               {"URI: https://example.com/login\n", "", false},
		"an empty URI":                {"URI: https://example.com/login\n", "URI: \n", false},
		"without a version":           {"Version: 1\n", "", false},
		"version 2":                   {"Version: 1\n", "Version: 2\n", false},
		"without a chain":             {"Chain ID: 1\n", "", false},
		"without a time":              {"Issued At: 2025-11-20T12:00:00Z\n", "", false},
		"issued at no time":           {"Issued At: 2025-11-20T12:00:00Z", "Issued At: yesterday", false},
		"expires at no time":          {"Expiration Time: 2025-11-20T13:00:00Z", "Expiration Time: tomorrow", false},
		"valid from no time":          {"Not Before: 2025-11-20T12:00:00Z", "Not Before: tomorrow", false},
		"a member twice":              {"Version: 1\n", "Version: 1\nVersion: 1\n", false},
		"out of order":                {"Version: 1\nChain ID: 1\n", "Chain ID: 1\nVersion: 1\n", false},
		"an unknown member":           {"Request ID: 7", "Request: 7", false},
		"an empty line":               {"Version: 1\n", "Version: 1\n\n", false},
		"a statement of two lines":    {"I accept the terms.", "I accept the terms.\nAll of them.", false},
		"no dash at a resource":       {"- https://example.com/b", "https://example.com/b", false},
		"a short address":             {signInAddress, signInAddress[:41], false},
		"another chain's words":       {"Ethereum account", "Solana account", false},
		"no domain":                   {"https://example.com wants", "https:// wants", false},
		"an empty scheme":             {"https://example.com wants", "://example.com wants", false},
		"a path in the domain":        {"https://example.com wants", "https://example.com/a wants", false},
		"a query in the domain":       {"https://example.com wants", "https://example.com?a wants", false},
		"text before the scheme":      {"https://example.com wants", "evil.com https://example.com wants", false},
		"a scheme of a digit":         {"https://example.com wants", "1https://example.com wants", false},
		"another scheme":              {"https://example.com wants", "app+x-1.0://example.com wants", true},
		"two spaces":                  {"wants you", "wants  you", false},
		"a no-break space":            {"wants you", "wants\u00a0you", false},
		"a line break":                {"wants you", "wants\r\nyou", false},
	} {
		if strings.Count(signInText, test.old) == 0 {
			t.Fatalf("%s: %q is not there", name, test.old)
		}
		text := strings.Replace(signInText, test.old, test.changed, 1)
		if got := texts.ParseSignIn(text); (got != nil) != test.want {
			t.Errorf("%s: %+v", name, got)
		}
		if !texts.AsksToSignIn([]byte(strings.ToUpper(text))) {
			t.Errorf("%s: does not ask to sign in", name)
		}
	}
}

// TestSignInProblem compares the signer and the site of the URI.
func TestSignInProblem(t *testing.T) {
	signer := chains.PartyWritten([]byte(strings.Repeat("a", 20)), strings.ToLower(signInAddress))
	for name, test := range map[string]struct{ old, changed, want string }{
		"none":                 {"", "", ""},
		"the site in capitals": {"URI: https://example.com/", "URI: https://EXAMPLE.com/", ""},
		"a subdomain":          {"URI: https://example.com/", "URI: https://login.example.com/", ""},
		"above the domain":     {"https://example.com wants", "https://app.example.com wants", ""},
		"a name without host":  {"URI: https://example.com/login", "URI: urn:uuid:6e8bc430", ""},
		"a script":             {"URI: https://example.com/login", "URI: javascript:alert(1)", "but its URI is"},
		"the end of a name":    {"URI: https://example.com/", "URI: https://badexample.com/", "but its URI is"},
		"a user's name":        {"URI: https://example.com/", "URI: https://example.com@evil.org/", "but its URI is"},
		"a top-level domain":   {"https://example.com wants", "com wants", "but its URI is"},
		"a port in the URI":    {"URI: https://example.com/", "URI: https://example.com:8443/", ""},
		"a port in the domain": {"https://example.com wants", "https://example.com:8443 wants", ""},
		"two ports":            {"URI: https://example.com/login", "URI: https://example.com:1/", ""},
		"another site":         {"URI: https://example.com/", "URI: https://example.org/", "but its URI is"},
		"another account":      {signInAddress, "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "is for the account"},
	} {
		read := texts.ParseSignIn(strings.Replace(signInText, test.old, test.changed, 1))
		if read == nil {
			t.Fatalf("%s: not read", name)
		}
		if got := texts.Problem(read, signer); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	ports := texts.ParseSignIn(strings.Replace(strings.Replace(signInText, "https://example.com wants", "https://example.com:1 wants", 1), "URI: https://example.com/", "URI: https://example.com:2/", 1))
	if ports == nil || texts.Problem(ports, signer) == "" {
		t.Error("two ports are the same site")
	}
	solana := texts.ParseSolanaSignIn("example.com wants you to sign in with your Solana account:\nAbc")
	for address, same := range map[string]bool{"Abc": true, "abc": false} {
		if got := texts.Problem(solana, chains.PartyWritten([]byte{1}, address)); (got == "") != same {
			t.Errorf("signed by %s: %q", address, got)
		}
	}
}

// TestParseSolanaSignIn has texts of Sign-In with Solana, where almost everything is
// optional.
func TestParseSolanaSignIn(t *testing.T) {
	const first = "example.com wants you to sign in with your Solana account:"
	for text, want := range map[string]bool{
		first + "\nAbc":                                         true,
		first + "\nAbc\n\nHello":                                true,
		first + "\nAbc\n\nURI: https://example.com":             true,
		first + "\nAbc\n\n\nURI: https://example.com":           true,
		first + "\nAbc\n\nHello\n\nVersion: 1\nNonce: 12345678": true,
		first + "\nAbc\n\nHello\n\nVersion: 1\nNonce: 1":        false,
		first + "\nAbc\n\nVersion: 2":                           false,
		first + "\nAbc\n\nChain ID: mainnet":                    true,
		first + "\nAbc\n\nChain ID: main net":                   false,
		first + "\nAbc\n\nURI: exa mple.com":                    false,
		first + "\nA0c":                                         false,
		first + "\nAbc\n\nVersion: 1\nResources:\n- a:b":        true,

		first + "\nAbc\n\nHello\n\nVersion: 1\nURI: https://example.com/\nIssued At: 2025-11-20T12:00:00.000Z": true, // of @supabase/auth-js
		first + "\nAbc\n\nVersion: 1\nURI: https://example.com/\nIssued At: 2025-11-20T12:00:00.000Z\nNot Before: 2025-11-20T12:00:00Z\n" +
			"Expiration Time: 2025-11-20T12:00:00Z\nChain ID: mainnet\nNonce: 12345678\nRequest ID: 7": true,
		first + "\nAbc\n\nVersion: 1\nURI: https://example.com\nVersion: 1":               false,
		first + "\nAbc\n\nURI: https://example.org\nVersion: 1\nURI: https://example.com": false,
		first + "\nAbc\n\nResources:\n- a:b\nVersion: 1":                                  false,
		first + "\nAbc\n\nVersion: 1\nNetwork: mainnet":                                   false,

		"":                                false,
		first:                             false,
		first + "\n":                      false,
		first + "\n\nHello":               false,
		first + "\nAbc\nDef":              false,
		first + "\nAbc\n\n":               false,
		first + "\nAbc\n\n\n\nURI: a":     false,
		first + "\nAbc\n\nHello\n\nURI: ": false,
		first + "\nAbc\n\nHello\n\nHello": false,
		first + " \nAbc":                  false,
		"wants you to sign in\nAbc":       false,
		" wants you to sign in with your Solana account:\nAbc":              false,
		"example.com wants you to sign in with your Ethereum account:\nAbc": false,
	} {
		if got := texts.ParseSolanaSignIn(text); (got != nil) != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for uri, want := range map[string]bool{"https://example.com": true, "https://example.org": false, "https://login.example.com": true} {
		read := texts.ParseSolanaSignIn(first + "\nAbc\n\nURI: " + uri)
		if read == nil {
			t.Fatalf("%s: not read", uri)
		}
		if got := texts.Problem(read, chains.Party{}); (got == "") != want {
			t.Errorf("%s, without a signer: %q", uri, got)
		}
		if other := texts.ParseSolanaSignIn(first + "\nAbc\n\nVersion: 1\nURI: " + uri); other == nil || (texts.Problem(other, chains.Party{}) == "") != want {
			t.Errorf("%s, behind the version: %+v", uri, other)
		}
	}
}

const tronSignIn = "example.com wants you to sign in with your TRON account:\nTPoqpax8vQvDF4mUZrFtV1pcmQAFKTT3AX\n\nHello\n\n" +
	"URI: https://example.com\nVersion: 1\nChain ID: 728126428\nNonce: 32891756\nIssued At: 2025-11-20T12:00:00Z"

// TestForeignUnderEachPrefix: a sign-in for another account, of another chain or another
// site has a hazard under each prefix, and so has a nonce with dashes.
func TestForeignUnderEachPrefix(t *testing.T) {
	tronParty := chains.PartyWritten([]byte{1}, "TPoqpax8vQvDF4mUZrFtV1pcmQAFKTT3AX")
	ethereumParty := chains.PartyWritten([]byte{1}, signInAddress)
	for _, c := range []struct {
		name, text string
		tron       bool
		signer     chains.Party
		want       string
	}{
		{"Ethereum's", signInText, false, ethereumParty, ""},
		{"Tron's", tronSignIn, true, tronParty, ""},
		{"Tron's, by chain id in hex", strings.Replace(tronSignIn, "728126428", "0x2b6653dc", 1), true, tronParty, ""},
		{"Ethereum's under Tron's prefix", signInText, true, ethereumParty, texts.HazardForeignSignIn + texts.HazardFreeText},
		{"Tron's under Ethereum's prefix", tronSignIn, false, tronParty, texts.HazardForeignSignIn + texts.HazardFreeText},
		{"another account of Tron", tronSignIn, true, chains.PartyWritten([]byte{1}, "TQLCsShbQNXMTVCjprY64qZmEA4rBarpQp"), texts.HazardForeignSignIn},
		{"another case", tronSignIn, true, chains.PartyWritten([]byte{1}, "TPOQPAX8VQVDF4MUZRFTV1PCMQAFKTT3AX"), texts.HazardForeignSignIn},
		{"another site on Tron", strings.Replace(tronSignIn, "URI: https://example.com", "URI: https://example.org", 1), true, tronParty, texts.HazardForeignSignIn},
		{"a loose member on Tron", strings.Replace(tronSignIn, "728126428", "tron", 1), true, tronParty, texts.HazardForeignSignIn + texts.HazardFreeText},
		{"a nonce that is a UUID", strings.Replace(signInText, "32891756", "7f1c2c1e-0d5c-4d1e-8f3f-1d2c3b4a5968", 1), false, ethereumParty, ""},
		{"a nonce with dashes", strings.Replace(signInText, "32891756", "f81d4fae-7dec-11d0", 1), false, ethereumParty, texts.HazardLooseNonce},
		{"and on Tron", strings.Replace(tronSignIn, "32891756", "f81d4fae-7dec-11d0", 1), true, tronParty, texts.HazardLooseNonce},
	} {
		by := texts.EIP4361
		if c.tron {
			by = texts.EIP4361Tron
		}
		var got strings.Builder
		for _, hazard := range texts.Read([]byte(c.text), by).Hazards(c.signer, 0) {
			got.WriteString(hazard.Name)
		}
		if got.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.String(), c.want)
		}
	}
}

// TestProblemTexts: what is said of a sign-in for another account or site, cut at 100 bytes.
func TestProblemTexts(t *testing.T) {
	long := "https://" + strings.Repeat("a", 93) + ".example/"
	for name, test := range map[string]struct{ old, changed, want string }{
		"another site": {"URI: https://example.com/login", "URI: https://example.org/", `the sign-in is for "example.com", but its URI is "https://example.org/"`},
		"a long URI":   {"URI: https://example.com/login", "URI: " + long, `the sign-in is for "example.com", but its URI is "` + long[:100] + `…"`},
		"of 100 bytes": {"URI: https://example.com/login", "URI: " + long[:100], `the sign-in is for "example.com", but its URI is "` + long[:100] + `"`},
		"no host":      {"URI: https://example.com/login", "URI: mailto:a@example.com", `the sign-in is for "example.com", but its URI is "mailto:a@example.com"`},
	} {
		read := texts.ParseSignIn(strings.Replace(signInText, test.old, test.changed, 1))
		if read == nil {
			t.Fatalf("%s: not read", name)
		}
		if got := texts.Problem(read, chains.Party{}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	signer := chains.PartyWritten([]byte{1}, "0x08d2")
	if got, want := texts.Problem(texts.ParseSignIn(signInText), signer), `the sign-in is for the account "`+signInAddress+`", but 0x08d2 would sign it`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
