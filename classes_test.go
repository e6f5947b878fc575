package countersign_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
)

// reported is an input of a public bug report, made for the key of the tests, or a sibling
// of one, and what the engine says of it with nothing allowed.
type reported struct {
	Name, Source string
	Kind         string // see intent
	Payload      string
	Hazards      []string // by name; none: it is signed
	Effects      []string // their kinds, if given
}

// transactionTypes are the kinds of inputs that are transactions.
var transactionTypes = map[string]activity.TransactionType{
	"ethereum": activity.TransactionTypeEthereum, "tron": activity.TransactionTypeTron, "tempo": activity.TransactionTypeTempo,
}

func (r *reported) intent(t *testing.T) activity.Intent {
	t.Helper()
	if kind, ok := transactionTypes[r.Kind]; ok {
		return activity.SignTransactionIntent{SignWith: "key-1", UnsignedTransaction: r.Payload, Type: kind}
	}
	message := activity.SignMessageIntent{SignWith: "key-1", Payload: r.Payload, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256}
	switch r.Kind {
	case "eip712":
		message.Encoding, message.HashFunction = activity.EncodingEIP712, activity.HashNone
	case "personal":
		message.Payload = string(personal.Preimage(personal.EthereumPrefix, []byte(r.Payload)))
	case "tron personal":
		message.Payload = string(personal.Preimage(personal.TronPrefix, []byte(r.Payload)))
	case "bitcoin":
		message.Payload = hex.EncodeToString(bip137.Preimage([]byte(r.Payload)))
		message.Encoding, message.HashFunction = activity.EncodingHex, activity.HashDoubleSHA256
	case "solana text":
		message.SignWith, message.HashFunction = "key-2", activity.HashNotApplicable
	default:
		t.Fatalf("%s: kind %q", r.Name, r.Kind)
	}
	return message
}

// TestReportedClasses checks that each input is signed with nothing allowed if it has no
// hazards, is otherwise refused with exactly these, and is signed with them allowed.
func TestReportedClasses(t *testing.T) {
	text, err := os.ReadFile("testdata/classes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []reported
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	strict, lenient := enginetest.New(t), enginetest.New(t, withHazards(countersign.AllHazards))
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			prepared, err := lenient.Engine.Prepare(t.Context(), enginetest.Organization, r.intent(t))
			if err != nil {
				t.Fatal(err)
			}
			var hazards, kinds []string
			for _, hazard := range prepared.Hazards() {
				if !slices.Contains(hazards, hazard.Name) {
					hazards = append(hazards, hazard.Name)
				}
			}
			for _, effect := range prepared.Summary().Effects {
				kinds = append(kinds, string(effect.Kind))
			}
			slices.Sort(hazards)
			if !slices.Equal(hazards, r.Hazards) {
				t.Errorf("hazards %q, want %q", hazards, r.Hazards)
			}
			if r.Effects != nil && !slices.Equal(kinds, r.Effects) {
				t.Errorf("effects %q, want %q", kinds, r.Effects)
			}
			if _, err := strict.Engine.Prepare(t.Context(), enginetest.Organization, r.intent(t)); (err == nil) != (len(r.Hazards) == 0) {
				t.Errorf("with nothing allowed: %v", err)
			}
			if _, err := prepared.Sign(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
