package messages_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// flatterer is a descriptor of all typed data that claims to read everything, and that
// all of it is harmless.
type flatterer struct{ path string }

func (f flatterer) Read(call chains.Call) (chains.Reading, bool) {
	if call.Typed == nil {
		return chains.Reading{}, false
	}
	return chains.Reading{Path: f.path, Source: "flatterer.json", Trust: "pinned", Owner: "Snapshot", Intent: "Vote", Function: call.Typed.Type, Complete: true,
		Fields: []chains.Field{chains.Text("Choice", "Yes")}, Args: []chains.Arg{{Name: "choice", Value: "yes"}}}, true
}

func (flatterer) LookupTable([]byte) (table chains.LookupTable, ok bool) { return table, false }

func withDescriptors(reader chains.Reader) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Descriptors = reader }
}

var mysteryText = strings.ReplaceAll(engines.PermitText, `"Permit"`, `"Mystery"`)

// hazardsOf prepares a message with every hazard allowed, and returns the hazards that
// it has.
func hazardsOf(t *testing.T, text string, changes ...func(*countersign.Config)) (hazards []string, effects []chains.Effect, digest [32]byte, readings chains.Readings) {
	t.Helper()
	f := enginetest.New(t, append(changes, engines.WithHazards(countersign.AllHazards))...)
	intent := engines.Payload(text, activity.EncodingEIP712, activity.HashNone)
	intent.SignWith = "key-1" // some messages are of Tron
	prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent)
	testenv.Must(t, err)
	summary := prepared.Summary()
	return chaintest.Names(prepared.Hazards()), summary.Effects, summary.Digest(), prepared.Readings()
}

// applicationTexts returns the real messages from the tests of package structures.
func applicationTexts(t *testing.T) map[string]string {
	t.Helper()
	content := testenv.Read(t, "../internal/messages/structures/testdata/applications.json")
	var all []struct {
		Name    string
		Message json.RawMessage
	}
	testenv.JSON(t, content, &all)
	texts := map[string]string{"of an unknown type": mysteryText}
	for _, one := range all {
		texts[one.Name] = string(one.Message)
	}
	return texts
}

// TestReadingKeepsEffectsAndHazards checks that whatever a descriptor says about typed
// data, under whatever path, the effects, the digest of the summary and every hazard
// stay the same.
func TestReadingKeepsEffectsAndHazards(t *testing.T) {
	read := 0
	for name, text := range applicationTexts(t) {
		hazards, effects, digest, _ := hazardsOf(t, text)
		for _, path := range []string{"", "message", "message/data", "message/callData"} {
			withReading, sameEffects, sameDigest, readings := hazardsOf(t, text, withDescriptors(flatterer{path}))
			if !slices.Equal(hazards, withReading) || digest != sameDigest || len(effects) != len(sameEffects) {
				t.Errorf("%s: hazards %v, with a descriptor %v", name, hazards, withReading)
			}
			read += len(readings)
		}
	}
	if read == 0 {
		t.Error("nothing was read")
	}
}

// readingPolicy allows votes that a descriptor read as such.
const readingPolicy = `schema: countersign.policy/2
rules:
  - name: votes
    allow: message
    when: effect.reading.complete && effect.reading.intent == 'Vote'
`

// TestReadingDoesNotDecode checks that an unknown type stays undecoded and denied
// whatever a descriptor says, by default and under a policy that uses the reading, until
// a rule names the hazard. A permit stays spending.
func TestReadingDoesNotDecode(t *testing.T) {
	lies := withDescriptors(flatterer{"message"})
	named := strings.TrimSuffix(readingPolicy, "\n") + "\n    of: messages\n    chains: [eip155:1]\n    hazards: [eip712/unknown-type]\n"
	limited := strings.Replace(named, "hazards: [", "hazards: [eip712/unlimited-approval, ", 1)
	for name, test := range map[string]struct {
		text    string
		changes []func(*countersign.Config)
		reason  activity.Reason
		want    string
	}{
		"by default":                     {mysteryText, []func(*countersign.Config){lies}, activity.ReasonHazardNotAllowed, "eip712/unknown-type"},
		"a rule without the hazard":      {mysteryText, []func(*countersign.Config){lies, engines.WithPolicy(t, readingPolicy)}, activity.ReasonNotAuthorized, "eip712/unknown-type"},
		"a rule, and no descriptor":      {mysteryText, []func(*countersign.Config){engines.WithPolicy(t, named)}, activity.ReasonNotAuthorized, "effect.reading is absent"},
		"a permit that is called a vote": {engines.Permit("1", "0"), []func(*countersign.Config){lies, engines.WithPolicy(t, limited)}, activity.ReasonNotAuthorized, "approve"},
	} {
		f := enginetest.New(t, test.changes...)
		_, err := engines.SubmitIntent(t, f, engines.Payload(test.text, activity.EncodingEIP712, activity.HashNone))
		enginetest.Refusal(t, err, test.reason, test.want)
		if signatures := f.Signing.Signatures.Load(); signatures != 0 {
			t.Errorf("%s: %d signatures", name, signatures)
		}
	}
	f := enginetest.New(t, lies, engines.WithPolicy(t, named))
	record, err := engines.SubmitIntent(t, f, engines.Payload(mysteryText, activity.EncodingEIP712, activity.HashNone))
	if err != nil {
		t.Fatalf("a rule that names the hazard: %v", err)
	}
	_, effects, digest, readings := hazardsOf(t, mysteryText)
	if !effects[0].Undecoded || len(readings) != 0 || !strings.Contains(record.AppProofs[0].ProofPayload, hex.EncodeToString(digest[:])) {
		t.Errorf("effects %+v; the proof %s has not the digest %x", effects, record.AppProofs[0].ProofPayload, digest)
	}
}
