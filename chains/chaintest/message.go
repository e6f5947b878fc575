package chaintest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Messages is a kind of message, which is signed like a transaction.
type Messages struct {
	Chain   chains.Chain // whose keys sign
	Name    string       // in refusals; empty if they come from a chain's own reader
	Hazards []string     // the closed list
	Parse   func(raw []byte) (chains.Transaction, error)
}

// MessageSample is a message that a key can sign, and its hazards.
type MessageSample struct {
	Sample

	// JSON is set if the bytes are JSON, whose members may be in any order.
	JSON bool

	// Open is set if a prefix of the message is another valid message, as of a text
	// without a length.
	Open bool

	// Hazards are the names of the message's hazards for its key, in order.
	Hazards []string
}

// HostileText is a text of two lines for samples of messages. Its second line must not look
// like a line of a summary.
const HostileText = "hello\nhazards  none"

// RunMessages tests that a kind of message keeps the contract: that of a parsed transaction
// (Run), and in addition
//
//   - a strict reader that returns its own errors;
//   - one digest, one list of effects and one signature, whatever the order of members
//     and however often they are requested;
//   - text that cannot fake lines;
//   - a hazard for everything that is not decoded, and no unexpected hazard;
//   - no default key.
func RunMessages(t *testing.T, kind Messages, samples map[string]MessageSample) {
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	as := messageChain{kind.Chain, kind}
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			for _, what := range messageChecks {
				t.Run(what, func(t *testing.T) { checks[what](t, as, sample.Sample) })
			}
			t.Run("Strict", func(t *testing.T) { checkStrict(t, kind, sample) })
			t.Run("Stable", func(t *testing.T) { checkStable(t, as, sample) })
			t.Run("Lines", func(t *testing.T) { checkLines(t, as, sample.Sample) })
			t.Run("DefaultDeny", func(t *testing.T) { checkDefaultDeny(t, as, sample) })
			t.Run("SignWith", func(t *testing.T) { checkSignWith(t, as, sample.Sample) })
		})
	}
}

// messageChecks are the checks of Run that do not concern refusals.
var messageChecks = []string{"Addresses", "KeyID", "Summary", "Hazards", "Effects", "Sign", "SignInParallel",
	"CancelledSign", "FailingKey", "KeyOfOtherCurve"}

// messageChain is a kind of message as a chain.
type messageChain struct {
	chains.Chain
	kind Messages
}

func (m messageChain) Parse(raw []byte) (chains.Transaction, error) { return m.kind.Parse(raw) }

func (m messageChain) HazardNames() []string { return m.kind.Hazards }

// checkStrict checks that each prefix of the message, and the message followed by a byte,
// is refused, or shown as another message if the sample is open.
func checkStrict(t *testing.T, kind Messages, sample MessageSample) {
	whole, err := kind.Parse(sample.Raw)
	if err != nil {
		t.Fatal(err)
	}
	others := make([][]byte, 0, len(sample.Raw)+len(Boundaries))
	for end := range sample.Raw {
		others = append(others, sample.Raw[:end:end])
	}
	for _, value := range Boundaries {
		others = append(others, append(bytes.Clone(sample.Raw), value))
	}
	for _, raw := range others {
		tx, err := kind.Parse(raw)
		switch {
		case err == nil && !sample.Open:
			t.Errorf("%q is accepted", raw)
		case err == nil:
			if tx.Summary().Digest() == whole.Summary().Digest() {
				t.Errorf("%q has the digest of the whole message", raw)
			}
		case tx != nil:
			t.Errorf("%q is refused (%v), and a transaction returned", raw, err)
		default:
			checkMessageRefusal(t, kind, raw, err)
		}
	}
}

func checkMessageRefusal(t *testing.T, kind Messages, raw []byte, err error) {
	t.Helper()
	refusal, ok := errors.AsType[*chains.ParseError](err)
	switch {
	case !ok:
		t.Errorf("%q: a %T: %v", raw, err, err)
	case kind.Name != "" && refusal.Chain != kind.Name:
		t.Errorf("%q: refused by %q, not %q", raw, refusal.Chain, kind.Name)
	case refusal.Offset < -1 || refusal.Offset > len(raw):
		t.Errorf("%q: %v has an offset out of range", raw, err)
	case refusal.Problem == "":
		t.Errorf("%q: %v has no problem", raw, err)
	}
}

// checkStable checks that results do not change from call to call, or with the order of JSON
// members.
func checkStable(t *testing.T, as messageChain, sample MessageSample) {
	first := parse(t, as, sample.Raw)
	want, signature := first.Summary().Digest(), sign(t, as, sample.Sample)
	for round := range 8 {
		raw := bytes.Clone(sample.Raw)
		if sample.JSON {
			raw = reordered(t, raw, round)
		}
		tx := parse(t, as, raw)
		signing := ready(t, tx, sample.Sample)
		if got := tx.Summary().Digest(); got != want {
			t.Fatalf("%q: the digest is %x, and that of the sample %x", raw, got, want)
		}
		if !reflect.DeepEqual(tx.Effects(), first.Effects()) || !reflect.DeepEqual(tx.Effects(), tx.Effects()) ||
			!reflect.DeepEqual(signing.Effects(), signing.Effects()) || !reflect.DeepEqual(signing.Hazards(), signing.Hazards()) {
			t.Fatalf("%q: the effects or hazards differ from call to call", raw)
		}
		if got, err := signing.AppendSigned(t.Context(), nil); err != nil || !bytes.Equal(got, signature) {
			t.Fatalf("%q: signed %x (%v), want %x", raw, got, err, signature)
		}
	}
}

// reordered returns JSON with the members of each object in another order.
func reordered(t *testing.T, raw []byte, round int) []byte {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	write(t, &out, value, round)
	return out.Bytes()
}

func write(t *testing.T, out *bytes.Buffer, value any, round int) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		slices.Sort(names)
		for i := range round % max(1, len(names)) {
			names[i], names[len(names)-1] = names[len(names)-1], names[i]
		}
		for i, name := range names {
			fmt.Fprintf(out, "%c%q:", "{,"[min(i, 1)], name)
			write(t, out, value[name], round)
		}
		out.WriteString(strings.Repeat("{", max(0, 1-len(names))) + "}")
	case []any:
		out.WriteByte('[')
		for i, element := range value {
			out.WriteString(strings.Repeat(",", min(i, 1)))
			write(t, out, element, round)
		}
		out.WriteByte(']')
	default:
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
}

// checkLines checks that text of the message cannot fake a line, and has no control
// characters, in what is shown.
func checkLines(t *testing.T, as messageChain, sample Sample) {
	tx := parse(t, as, sample.Raw)
	signing := ready(t, tx, sample)
	var shown bytes.Buffer
	for _, effect := range signing.Effects() {
		fmt.Fprintln(&shown, chains.Sentence(effect, nil))
	}
	render(t, &shown, slices.Concat(tx.Summary().Fields, signing.SignerView()))
	for _, hazard := range signing.Hazards() {
		fmt.Fprintln(&shown, hazard.Detail)
	}
	_, fake, _ := strings.Cut(HostileText, "\n")
	for line := range strings.Lines(shown.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), fake) {
			t.Errorf("a line faked by the message: %q", line)
		}
		unseen := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unseen) {
			t.Errorf("a line with control characters: %q", line)
		}
	}
}

// checkDefaultDeny checks the hazards, and that every effect that is not decoded has one:
// of its own, or of the request.
func checkDefaultDeny(t *testing.T, as messageChain, sample MessageSample) {
	signing := ready(t, parse(t, as, sample.Raw), sample.Sample)
	if got := Names(signing.Hazards()); !slices.Equal(got, sample.Hazards) {
		t.Errorf("hazards %v, want %v", got, sample.Hazards)
	}
	for i, effect := range signing.Effects() {
		covers := func(h chains.Hazard) bool { index, ok := h.Effect(); return !ok || index == i }
		if effect.Undecoded && !slices.ContainsFunc(signing.Hazards(), covers) {
			t.Errorf("effect %d is not decoded and has no hazard: %+v", i, effect)
		}
	}
}

// checkSignWith checks that there is no default key.
func checkSignWith(t *testing.T, as messageChain, sample Sample) {
	own, err := locators(sample.Key)
	if err != nil {
		t.Fatal(err)
	}
	isOwn := func(locator keystore.Locator) bool { return slices.Contains(own, locator) }
	if request, err := parse(t, as, sample.Raw).Request(""); err == nil && slices.ContainsFunc(request.Locators(), isOwn) {
		t.Error("an empty signWith leads to the key")
	}
}
