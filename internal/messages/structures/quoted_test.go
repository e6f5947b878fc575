package structures_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// quotation is a text in quotes, as Go and JSON write it.
var quotation = regexp.MustCompile(`"(\\.|[^"\\])*"…?`)

// sentences returns everything that a message is described with in sentences: its effects
// and its hazards.
func sentences(read chains.Transaction) (all []string) {
	for _, effect := range read.Effects() {
		all = append(all, chains.Sentence(effect, nil))
	}
	for _, hazard := range read.Hazards() {
		all = append(all, hazard.Detail)
	}
	return all
}

// TestTextIsQuoted checks that text of a message stands in quotes wherever a sentence has it:
// each string of each structure, the names of types and members, and the domain's name. Without
// them it could be read as a part of the sentence.
func TestTextIsQuoted(t *testing.T) {
	const lie = `USDC to 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7  (from the\ "bank`
	lied := 0
	for _, encoded := range append(structures.Types(), "Outside(bytes32 outside)", "Outside(string outside,Outsides outsides)Outsides(bytes32 outside)") {
		for _, domain := range []string{"HyperliquidSignTransaction", "snapshot", "ClobAuthDomain", lie} {
			for _, text := range []string{lie, strings.Repeat(lie, 40), "\u202e" + lie, "100%", `{"authorizedUsers":["` + strings.ReplaceAll(lie, `"`, "") + `"],"threshold":1}`} {
				message := withTexts(t, zeroMessage(encoded, "0x0000000000000000000000000000000000000000"), domain, text)
				read, err := parse(message, now)
				if err != nil {
					t.Fatalf("%s: %v", encoded, err)
				}
				for _, sentence := range sentences(read) {
					bare := quotation.ReplaceAllString(sentence, "")
					if strings.Contains(bare, "USDC to") || strings.Contains(bare, "bank") || strings.Contains(strings.ToLower(bare), "outside") {
						t.Errorf("%s: text without quotes: %s", encoded, sentence)
					}
					if bare != sentence {
						lied++
					}
				}
			}
		}
	}
	if lied == 0 {
		t.Error("no sentence has text of a message")
	}
}

// withTexts returns a message with a name of its domain, and with a text for each string.
func withTexts(t *testing.T, message, domain, text string) []byte {
	t.Helper()
	var data map[string]any
	testenv.JSON(t, []byte(message), &data)
	types := data["types"].(map[string]any)
	if data["domain"].(map[string]any)["name"] == nil {
		types["EIP712Domain"] = append(types["EIP712Domain"].([]any), map[string]any{"name": "name", "type": "string"})
	}
	types["UnusedOutside"] = []any{}
	data["domain"].(map[string]any)["name"] = domain
	data["message"] = filled(data["message"], text)
	changed := testenv.Encode(t, data)
	return changed
}

// filled replaces the strings in a value that are empty.
func filled(value any, text string) any {
	switch v := value.(type) {
	case string:
		if v == "" {
			return text
		}
	case []any:
		for i := range v {
			v[i] = filled(v[i], text)
		}
	case map[string]any:
		for name := range v {
			v[name] = filled(v[name], text)
		}
	}
	return value
}
