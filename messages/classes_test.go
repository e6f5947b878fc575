package messages_test

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/messages"
)

// reported is an input of a public bug report, made for the key of the tests, or a sibling
// of one, and what the engine says of it with nothing allowed.
type reported struct {
	Name, Source string
	Kind         string // see intent
	Payload      string
	Hazards      []string // by name; none: it is signed
	Effects      []string // their kinds, if given
	Says, Never  []string // what the sentences of the effects contain, and what not
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
// hazards, is otherwise refused with exactly these, and is signed with them allowed; that
// its hazards that depend on no key are shown without one; and that a policy that allows
// everything but hazards decides as it is signed with nothing allowed.
func TestReportedClasses(t *testing.T) {
	text := testenv.Read(t, "testdata/classes.json")
	var records []reported
	testenv.JSON(t, text, &records)
	strict, lenient, ruled := enginetest.New(t), enginetest.New(t, engines.WithHazards(countersign.AllHazards)), ruledEngine(t)
	for _, r := range records {
		t.Run(r.Name, func(t *testing.T) {
			prepared, err := lenient.Engine.Prepare(t.Context(), enginetest.Organization, r.intent(t))
			testenv.Must(t, err)
			r.check(t, prepared)
			r.checkInspected(t)
			for name, engine := range map[string]preparer{"with nothing allowed": strict.Engine, "under a policy": ruled} {
				if _, err := engine.Prepare(t.Context(), enginetest.Organization, r.intent(t)); (err == nil) != (len(r.Hazards) == 0) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _, err := prepared.Sign(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// preparer is an engine, or one whose calls are a user's.
type preparer interface {
	Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*countersign.Prepared, error)
}

// check compares the hazards and the kinds of effects of what is signed.
func (r *reported) check(t *testing.T, prepared *countersign.Prepared) {
	t.Helper()
	if names := hazardNames(prepared.Hazards()); !slices.Equal(names, r.Hazards) {
		t.Errorf("hazards %q, want %q", names, r.Hazards)
	}
	effects, err := prepared.Effects(t.Context())
	testenv.Must(t, err)
	var kinds []string
	for _, effect := range effects {
		kinds = append(kinds, string(effect.Kind))
	}
	if r.Effects != nil && !slices.Equal(kinds, r.Effects) {
		t.Errorf("effects %q, want %q", kinds, r.Effects)
	}
	said := strings.Join(names.Sentences(effects, names.New(all.Chains(all.Limits{})...)), "\n")
	for _, text := range r.Says {
		if !strings.Contains(said, text) {
			t.Errorf("%q does not say %q", said, text)
		}
	}
	for _, text := range r.Never {
		if strings.Contains(said, text) {
			t.Errorf("%q says %q", said, text)
		}
	}
}

// checkInspected checks that without a key the input has no other hazards, and as many
// effects. Whose shares a vault gives is known of a signer alone: without, its call is blind.
func (r *reported) checkInspected(t *testing.T) {
	t.Helper()
	inspected, err := all.InspectIntent(r.intent(t), all.Limits{})
	testenv.Must(t, err)
	for _, name := range hazardNames(inspected.Hazards) {
		if blindVault := name == "ethereum/blind-call" && strings.Contains(inspected.Effects[0].Function, "uint256,address"); !blindVault && !slices.Contains(r.Hazards, name) {
			t.Errorf("without a key: %s", name)
		}
	}
	if r.Effects != nil && len(inspected.Effects) != len(r.Effects) {
		t.Errorf("without a key: %d effects, want %q", len(inspected.Effects), r.Effects)
	}
}

// hazardNames returns the names of hazards, sorted, each once.
func hazardNames(hazards []chains.Hazard) (names []string) {
	for _, hazard := range hazards {
		names = append(names, hazard.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ruledEngine returns an engine whose policy allows every kind of effect and no hazard.
func ruledEngine(t *testing.T) *countersign.Caller {
	t.Helper()
	var kinds []string
	for _, kind := range chains.Kinds() {
		if kind != chains.KindOTP && kind != chains.KindReceive {
			kinds = append(kinds, string(kind))
		}
	}
	f := enginetest.New(t, engines.WithHazards(countersign.AllHazards))
	config := countersign.Config{Chains: all.Chains(all.Limits{}), Operations: messages.Operations(all.Chains(all.Limits{})...), Keystore: f.Signing, Now: f.Clock.Now}
	engines.WithPolicy(t, "schema: countersign.policy/2\nrules:\n  - {name: everything, allow: ["+strings.Join(kinds, ", ")+"]}\n")(&config)
	engine, err := countersign.New(config)
	testenv.Must(t, err)
	return engine.As(engines.Machine, "")
}
