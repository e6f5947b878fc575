package personal_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/personal"
)

func shown(t *testing.T, preimage []byte) (fields, args []string) {
	t.Helper()
	read, err := personal.Parse(preimage)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range read.Summary().Fields {
		fields = append(fields, field.Label+": "+field.Value)
	}
	for _, arg := range read.Effects()[0].Args {
		args = append(args, arg.Name+": "+arg.Value)
	}
	return fields, args
}

// TestShown: what an approver and a policy see of messages.
func TestShown(t *testing.T) {
	long, hash := strings.Repeat("a", 1024), strings.Repeat("h", 32)
	for name, test := range map[string]struct {
		message      string
		fields, args []string
	}{
		"text":        {"hello", []string{"kind: personal message", "message: hello"}, []string{"message: hello"}},
		"empty":       {"", []string{"kind: personal message", "message: "}, []string{"message: "}},
		"longest":     {long, []string{"kind: personal message", "message: " + long}, []string{"message: " + long}},
		"too long":    {long + "a", []string{"kind: personal message", "message: " + long + "a"}, nil},
		"like a hash": {hash, []string{"kind: personal message", "message: " + hash}, []string{"message: " + hash}},
		"a sign-in": {signInText, []string{
			"kind: sign in", "sign in at: example.com", "account: " + signInAddress, "statement: I accept the terms.", "URI: https://example.com/login", "chain id: 1", "nonce: 32891756",
			"issued at: 2025-11-20T12:00:00Z", "expiration time: 2025-11-20T13:00:00Z", "not before: 2025-11-20T12:00:00Z", "request id: 7",
			"resource: https://example.com/a", "resource: https://example.com/b", "message: " + signInText,
		}, []string{"domain: example.com", "uri: https://example.com/login", "chainId: 1", "statement: I accept the terms."}},
		"with what is required": {siwe, []string{
			"kind: sign in", "sign in at: example.com", "account: " + signInAddress, "statement: Hello", "URI: https://example.com/login", "chain id: 1", "nonce: 32891756",
			"issued at: 2025-11-20T12:00:00Z", "message: " + siwe,
		}, []string{"domain: example.com", "uri: https://example.com/login", "chainId: 1", "statement: Hello"}},
	} {
		fields, args := shown(t, personal.Preimage(personal.EthereumPrefix, []byte(test.message)))
		if !slices.Equal(fields, test.fields) || !slices.Equal(args, test.args) {
			t.Errorf("%s:\n%s\n%q\nwant\n%s\n%q", name, strings.Join(fields, "\n"), args, strings.Join(test.fields, "\n"), test.args)
		}
	}
	fields, _ := shown(t, []byte("\x19\x00"+strings.Repeat("v", 20)))
	if want := []string{"kind: data for a validator (EIP-191, version 0)", "validator: 0x7676767676767676767676767676767676767676", "data: "}; !slices.EqualFunc(fields, want, strings.EqualFold) {
		t.Errorf("%q, want %q", fields, want)
	}
}

// TestHashLike: 32 bytes are like a hash unless all are hex digits or dashes, and so is a
// text that is nothing but a hash in hex or base64, however it is written.
func TestHashLike(t *testing.T) {
	digits := strings.Repeat("aB", 32)
	raw := sha256.Sum256([]byte("a hash"))
	standard, url := base64.StdEncoding.EncodeToString(raw[:]), base64.RawURLEncoding.EncodeToString(raw[:])
	for message, want := range map[string]bool{
		digits: true, "0x" + digits: true, "0X" + digits: true, " \n" + digits + "\t": true, "0x" + digits[2:] + "g0": false,
		digits[1:]: false, digits + "0": false, "0x" + digits[:62]: false, digits[:62]: false, digits + "00": false, "x" + digits: false,

		// 32 bytes.
		strings.Repeat("h", 32): true, strings.Repeat("h", 31): false, strings.Repeat("h", 33): false, "32 bytes of text with a space in": true,
		"\u067b\U00010348 " + strings.Repeat("x", 25): true, strings.Repeat("ä", 16): true, "deadbeef-dead-beef-deadbeef-0000": false,
		"0123456789abcdef0123456789abcdef": false, "0123456789ABCDEF0123456789ABCDEF": true, "0123456789abcdef0123456789abcdeg": true,

		// Written in other ways.
		`"` + digits + `"`: true, "“0x" + digits + "”": true, "'" + digits: true, "\u200b" + digits: true, digits[:20] + "\u200d" + digits[20:]: true,
		"Sign: 0x" + digits: true, "sign:" + digits: true, `"hash": "` + digits + `"`: true, digits[:32] + " " + digits[32:]: true, digits[:32] + "\n" + digits[32:]: true,
		"0x\u00a0" + digits: true, "\ufeff0x" + digits: true, "«" + digits + "»": true, "SHA-256：" + digits: true,
		standard: true, strings.TrimRight(standard, "="): true, url: true, url + "=": true, "hash: " + standard: true, standard[:20] + "\r\n" + standard[20:]: true, "`" + url + "`": true,

		// Texts that contain a hash, and others.
		"Sign this hash: 0x" + digits: false, "Transaction 0x" + digits + " of today": false, "https://example.com/tx/0x" + digits: false,
		"Transaction hash: 0x" + digits + ".": false, "a:b: " + digits: false, standard + "!": false, standard + standard: false, url[:42]: false,
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6": false, "Nonce: f81d4fae7dec11d0a76500a0c91e6bf6": false, "nonce: 17": false, "": false, ":": false, "Sign in: ": false,
		"hello, and welcome to the shop of the world": false, "I accept all the terms of the service that are mine": false,
		"please log in with this account today ok then now": false, "Log in at 12 May 2026 with session number 12345678": false,
	} {
		hazards := personal.TextHazards([]byte(message))
		got := slices.ContainsFunc(hazards, func(hazard chains.Hazard) bool { return hazard.Name == personal.HazardHashLike })
		if got != want {
			t.Errorf("%q: %v", message, hazards)
		}
	}
	for _, text := range []string{strings.Repeat("\xab", 32), "thirty-two bytes, with a blank \x01"} {
		read, err := personal.Parse(personal.Preimage(personal.EthereumPrefix, []byte(text)))
		if err != nil || len(read.Hazards()) == 0 || read.Hazards()[0].Name != personal.HazardHashLike {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWordsOfAHash: ordinary words that have as many letters as base64 of 32 bytes are no
// hash, whatever their length; a drawn hash is one however it is cut and quoted.
func TestWordsOfAHash(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 22))
	isHash := func(text string) bool {
		return slices.ContainsFunc(personal.TextHazards([]byte(text)), func(hazard chains.Hazard) bool { return hazard.Name == personal.HazardHashLike })
	}
	vocabulary := strings.Fields("agree accept the terms and sign with your account Example Exchange 12 May 2026 please log me into this site for the NFT drop")
	drawn := 0
	for range 20_000 {
		text, letters := "", 0
		for letters < 43 {
			word := vocabulary[random.IntN(len(vocabulary))]
			text, letters = text+word+" ", letters+len(word)
		}
		if letters != 43 || len(text) == 32 {
			continue
		}
		drawn++
		if isHash(text) {
			t.Fatalf("%q is like a hash", text)
		}
	}
	if drawn < 200 {
		t.Errorf("only %d texts of 43 letters", drawn)
	}
	around := []string{"", " ", "\n", `"`, "'", "`", "“", "”", "\u200b", "\u2060", "\ufeff", "\u00a0"}
	for range 500 {
		var raw [32]byte
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		forms := []string{hex.EncodeToString(raw[:]), "0x" + strings.ToUpper(hex.EncodeToString(raw[:])), base64.StdEncoding.EncodeToString(raw[:]), base64.RawURLEncoding.EncodeToString(raw[:])}
		text := forms[random.IntN(len(forms))]
		cut := 2 + random.IntN(len(text)-4)
		decorate := func() string { return around[random.IntN(len(around))] + around[random.IntN(len(around))] }
		text = decorate() + []string{"", "Sign: ", "hash:", "digest : "}[random.IntN(4)] + decorate() + text[:cut] + decorate() + text[cut:] + decorate()
		if !isHash(text) {
			t.Fatalf("%q is not like a hash", text)
		}
	}
}

// TestPreimageLengths: the length is that of the message, in decimal without leading zeros.
func TestPreimageLengths(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 99, 100, 999, 1000, 9999, 10_000, 99_999, 100_000, 999_999, 1_000_000} {
		message := strings.Repeat("a", n)
		for _, prefix := range []string{personal.EthereumPrefix, personal.TronPrefix} {
			for length, valid := range map[string]bool{strconv.Itoa(n): true, "0" + strconv.Itoa(n): false, strconv.Itoa(n + 1): false, "+" + strconv.Itoa(n): false, "": false} {
				if _, err := personal.Parse([]byte(prefix + length + message)); (err == nil) != valid {
					t.Errorf("%d bytes, length %q: %v", n, length, err)
				}
			}
		}
	}
	for n := range 24 {
		if _, err := personal.Parse(append([]byte{0x19, 0}, make([]byte, n)...)); (err == nil) != (n >= 20) {
			t.Errorf("a validator in %d bytes: %v", n, err)
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
		read := personal.ParseSignIn(strings.Replace(signInText, test.old, test.changed, 1))
		if read == nil {
			t.Fatalf("%s: not read", name)
		}
		if got := read.Problem(chains.Party{}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	signer := chains.PartyWritten([]byte{1}, "0x08d2")
	if got, want := personal.ParseSignIn(signInText).Problem(signer), `the sign-in is for the account "`+signInAddress+`", but 0x08d2 would sign it`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
