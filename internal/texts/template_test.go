package texts_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
)

// values returns a drawn value of each type of field.
func values(random *rand.Rand) map[string]string {
	hexOf := func(n int) string {
		raw := make([]byte, n)
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		return fmt.Sprintf("%x", raw)
	}
	uuid := hexOf(16)
	issued := time.Unix(1.7e9+random.Int64N(1e8), 0).UTC()
	return map[string]string{
		"address": []string{"0x" + hexOf(20), "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn", "FNN31sUqP3VPQd9VXHFMJGazohBi8vrA6MZyTwcpJX5J", "bc1q0xcqpzrky6eff2g52qdye53xkk9jxkvrh6yhyw"}[random.IntN(4)],
		"number":  fmt.Sprint(random.Int64N(1e15)), "uuid": uuid[:8] + "-" + uuid[8:12] + "-" + uuid[12:16] + "-" + uuid[16:20] + "-" + uuid[20:],
		"time":  issued.Format([]string{time.RFC3339, "2006-01-02T15:04:05.000Z"}[random.IntN(2)]),
		"nonce": hexOf(4 + random.IntN(30)), "base64": "abcd+/==", "host": "app.example.com:8443", "hex 16": hexOf(16), "hex 32": hexOf(32),
	}
}

// filled returns a text of a template.
func filled(template string, values map[string]string) string {
	for name, value := range values {
		template = strings.ReplaceAll(template, "{"+name+"}", value)
	}
	return strings.NewReplacer("{{", "{", "}}", "}").Replace(template)
}

// TestLogins: each template that ships is public, belongs to a domain, and is of its texts alone,
// without a hazard, and no ordinary note; a character more or less, and the text is unknown.
func TestLogins(t *testing.T) {
	random := rand.New(rand.NewPCG(53, 5))
	logins := texts.Logins()
	if len(logins) < 40 {
		t.Errorf("%d templates", len(logins))
	}
	for _, login := range logins {
		if login.Source == "" {
			t.Errorf("%s: no source", login.Domain)
		}
		for range 20 {
			text := filled(login.Text, values(random))
			for _, chain := range []*texts.Standard{texts.EIP4361, texts.EIP4361Tron, texts.SIWS, nil} {
				read := texts.Read([]byte(text), chain)
				hazards := read.Hazards(chains.Party{}, 0)
				if read.Domain() != login.Domain || len(hazards) != 0 || read.IsOrdinary() {
					t.Fatalf("%q: %q, %v, ordinary: %t", text, read.Domain(), hazards, read.IsOrdinary())
				}
			}
			for i := range logins {
				if _, ok := logins[i].Match(text); ok && logins[i].Text != login.Text {
					t.Errorf("%q is also of %q", text, logins[i].Text)
				}
			}
			at := random.IntN(len(text))
			for _, other := range []string{text + "§", "x" + text, text[:at] + "§" + text[at:]} {
				if read := texts.Read([]byte(other), texts.EIP4361); read.Domain() != "" {
					t.Errorf("%q is of %q", other, read.Domain())
				}
			}
		}
	}
}

// TestTemplates: what a template may be, and the texts that it is of.
func TestTemplates(t *testing.T) {
	for text, problem := range map[string]string{
		"Sign in to Example": "", "Log in now: {nonce}\nAt {time}.": "", "{number} of the people {address}": "", "Two braces {{and}} {uuid}{{": "",
		"Sign in: {anything}": "{anything}: expected {address}", "Sign in to us: {nonce": "expected {address}", "Sign in: {hex}": "expected {address}", "Sign in: {hex 0}": "N bytes from 1 to 64",
		"Sign in: {hex 65}": "N bytes from 1 to 64", "Sign in: {hex 07}": "N bytes from 1 to 64", "Sign in now: }": "}} stands for a brace", "Sign in now: {number}{number}": "what follows {number}",
		"Sign in now: {number}7": "what follows {number}", "Sign in: {nonce}-a": "what follows {nonce}", "Sign in at {host}.": "what follows {host}", "Sign in: {hex 4}ab now": "",
		"{nonce}": "letters outside of fields", "Sign: {nonce}": "letters outside of fields", "": "letters outside of fields", "Sign in\u202e to us {nonce}": "control character",
		strings.Repeat("long ", 1000): "bytes, of at most", "a of the words" + strings.Repeat(" {number}", 40): "words between them",
	} {
		template := texts.Template{Domain: "example.com", Text: text}
		if err := template.Compile(); (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want %q", text, err, problem)
		}
	}
	for _, domain := range []string{"", "https://example.com", "a b", "example.com/x"} {
		template := texts.Template{Domain: domain, Text: "Sign in to Example"}
		if err := template.Compile(); err == nil || !strings.Contains(err.Error(), "domain") {
			t.Errorf("domain %q: %v", domain, err)
		}
	}
	for _, c := range []struct {
		template, text string
		want           bool
	}{
		{"To the example {number}!", "To the example 12!", true}, {"To the example {number}!", "To the example !", false},
		{"To the example {number}", "To the example " + strings.Repeat("1", 21), false}, {"To the example {hex 2}", "To the example aB01", true},
		{"To the example {hex 2}", "To the example aB010", false}, {"To the example {address}", "To the example 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", true},
		{"To the example {address}", "To the example 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c5", false}, {"To the example {time}", "To the example 2026-13-28T12:00:00Z", false},
		{"To the example {host}/", "To the example a.example:80/", true},
		{"To the example {host}/", "To the example a..example/", false}, {"To the example {nonce}", "To the example a b c d", false}, {"To the {{example}} {nonce}", "To the {example} abcd", true},
		{"To the example {nonce}", "to the example abcd", false}, {"To the example {base64}", "To the example ab+/cd==", true}, {"To the example {nonce}", "To the example " + strings.Repeat("a", 89), false},
	} {
		template := texts.Template{Domain: "example.com", Text: c.template}
		testenv.Must(t, template.Compile())
		if values, ok := template.Match(c.text); ok != c.want {
			t.Errorf("%q of %q: %v %q", c.text, c.template, ok, values)
		}
	}
}

// FuzzTemplate: a template that is accepted is of the texts that it makes, a match gives back
// the text, and the template that a refusal prints is of its text.
func FuzzTemplate(f *testing.F) {
	for _, login := range texts.Logins() {
		f.Add(login.Text, filled(login.Text, values(rand.New(rand.NewPCG(1, 2)))))
	}
	f.Add("Log in {{ {hex 4}ab at {time}", "Log in { 0x0102 at noon, 7f1c2c1e-0d5c-4d1e-8f3f-1d2c3b4a5968")
	f.Fuzz(func(t *testing.T, form, text string) {
		template := texts.Template{Domain: "example.com", Text: form}
		if template.Compile() != nil {
			return
		}
		own := filled(form, values(rand.New(rand.NewPCG(3, 4))))
		if _, ok := template.Match(own); !ok && !strings.Contains(form, "hex ") {
			t.Errorf("%q is not of %q", own, form)
		}
		if values, ok := template.Match(text); ok {
			rest := text
			for _, field := range values {
				at := strings.Index(rest, field.Value)
				if at < 0 || field.Value == "" || field.Name == "" {
					t.Fatalf("%q of %q: %q", text, form, values)
				}
				rest = rest[at+len(field.Value):]
			}
		}
		checkGuess(t, text)
	})
}

// checkGuess checks the file that a refusal prints for a text.
func checkGuess(t *testing.T, text string) bool {
	t.Helper()
	printed := texts.Guess(text)
	if printed == "" {
		return false
	}
	var file struct{ Texts []texts.Template }
	if err := json.Unmarshal([]byte(printed), &file); err != nil || len(file.Texts) != 1 {
		t.Fatalf("%q: %v", printed, err)
	}
	file.Texts[0].Domain = "example.com"
	if err := file.Texts[0].Compile(); err != nil {
		t.Fatalf("%q: %v", printed, err)
	}
	if _, ok := file.Texts[0].Match(text); !ok {
		t.Errorf("%q is not of %s", text, printed)
	}
	return true
}

// TestGuess: numbers, hex and times vary in the template that a refusal prints, which is also of
// the next text.
func TestGuess(t *testing.T) {
	if got, want := texts.Guess("Hi 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56, log in at 2026-11-28T12:00:00.5Z with 7f1c2c1e-0d5c-4d1e-8f3f-1d2c3b4a5968, 0xab01cd02, a1-b2_c3d4 and {17}"),
		`{"texts":[{"domain":"DOMAIN","text":"Hi {address}, log in at {time} with {uuid}, 0x{hex 4}, {nonce} and {{{number}}}"}]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	random := rand.New(rand.NewPCG(7, 8))
	for _, login := range texts.Logins() {
		if text := filled(login.Text, values(random)); !checkGuess(t, text) {
			t.Errorf("no template for %q", text)
		}
	}
	for text, want := range map[string]bool{"hello": false, strings.Repeat("a long text ", 100): false, "hello, my dear world": true} {
		if checkGuess(t, text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"hello, my dear world": true, `{"verifying_contract":"intents.near","intents":[]}`: false, "Sign this message to derive your identity": false} {
		if got := texts.Read([]byte(text), texts.EIP4361).Template(); (got != "") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestOrders: the statement of a sign-in that has the form of an order makes it unknown, and
// statements that deny one, or are of something else, do not.
func TestOrders(t *testing.T) {
	var file struct {
		About                    string
		Services                 [][2]string
		Ordinary, Orders, Missed []string
	}
	testenv.JSON(t, testenv.Read(t, "testdata/statements.json"), &file)
	for _, of := range file.Services {
		file.Ordinary = append(file.Ordinary, of[1])
	}
	signer := chains.PartyWritten([]byte{1}, "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56")
	for want, statements := range map[string][]string{"": append(file.Ordinary, file.Missed...), texts.HazardTransactionLike + " " + texts.HazardFreeText: file.Orders} {
		for _, statement := range statements {
			text := strings.Replace(siweText, "Hello", statement, 1)
			names := strings.Join(chaintest.Names(texts.Read([]byte(text), texts.EIP4361).Hazards(signer, 0)), " ")
			if names != want {
				t.Errorf("%q: %q, want %q", statement, names, want)
			}
		}
	}
	const to = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	for _, text := range []string{siweText + "\nResources:\n- urn:recap:eyJhdHQiOnt9fQ", "Please transfer 5 USDC to alice.eth.",
		siweText + "\nRequest ID: withdraw(" + to + ",100)", siweText + "\nRequest ID: Transfer%205%20USDC%20to%20alice.eth",
		siweText + "\nResources:\n- ethereum:" + to + "/transfer?uint256=1e6", siweText + "\nResources:\n- https://a.example\n- bitcoin:bc1qvux25709r4uw6rzc8wyl7wwecjdhrx085hm5ty?amount=1",
		siweText + "\nResources:\n- data:application/json,%7B%22action%22%3A%22withdraw%22%2C%22amount%22%3A5%7D",
		`instruction=withdraw&address=x&quantity=100&timestamp=1`, `{"TransactionType":"Payment","Amount":"1000000"}`,
		`1499827319POST/api/v1/withdrawals{"currency":"USDT","amount":100}`, "Only sign this key linking request from Immutable X"} {
		if names := chaintest.Names(texts.Read([]byte(text), texts.EIP4361).Hazards(signer, 0)); names[0] != texts.HazardTransactionLike {
			t.Errorf("%q: %q", text, names)
		}
	}
	for _, text := range []string{siweText + "\nRequest ID: 17-a%20b", siweText + "\nResources:\n- https://example.com/tos?amount=5\n- ipfs://bafy/x\n- did:pkh:eip155:1:" + to + "\n- urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e"} {
		if names := chaintest.Names(texts.Read([]byte(text), texts.EIP4361).Hazards(signer, 0)); len(names) > 0 {
			t.Errorf("%q: %q", text, names)
		}
	}
}

// TestBytesAreNoText: hex of a hash or of more, base64 and base58 are nothing that a person can read.
func TestBytesAreNoText(t *testing.T) {
	for text, want := range map[string]bool{
		"02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0": true,
		"0xa9059cbb" + strings.Repeat("ab", 64): true, strings.Repeat("ab", 32): true, "7EUk3MyQsHpxeccn8Gn2myXF1ZomwnTt1oMjt1mf9NLm\n": true,
		"cHNidP8BAHEBAAAAAaqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqAAAAAAD/////": true, "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=": true,
		"0f8fad5b-d9cb-469f-a165-70867728950e": false, "d41d8cd98f00b204e9800998ecf8427e": false, "hello": false,
		strings.Repeat("z", 70): false, strings.Repeat("Words that are long. ", 5): false, "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7": false} {
		hazards := texts.Read([]byte(text), texts.EIP4361).Hazards(chains.Party{}, 0)
		if names := chaintest.Names(hazards); slices.Contains(names, texts.HazardHashLike) != want {
			t.Errorf("%q: %q", text, names)
		}
	}
}

// TestStemsMissNothing: the stems that a sentence must have are those of every order. Sentences are
// drawn from the words of statements and of the phrases themselves.
func TestStemsMissNothing(t *testing.T) {
	words := strings.FieldsFunc(strings.ToLower(string(testenv.Read(t, "testdata/statements.json"))+` unstake debit i offer list nft cash out 5eth 7 dai $5 €5 .sol
		0x97cc56300c36f60c7fb7c50babc6c5cdf59d5c56 bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq alice.eth everything all delegate appoint`),
		func(r rune) bool { return strings.ContainsRune(" \n\t\",[]{}", r) })
	random, orders := rand.New(rand.NewPCG(3, 5)), 0
	for range testenv.Draws(t, 5000) {
		var text strings.Builder
		for range 2 + random.IntN(9) {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		want := texts.IsOrderSlowly(texts.PlainWords(text.String()))
		if want {
			orders++
		}
		if texts.IsOrder(texts.PlainWords(text.String())) != want {
			t.Fatalf("%q: %v without the stems", text.String(), want)
		}
	}
	if orders < 100 {
		t.Errorf("%d orders were drawn", orders)
	}
}
