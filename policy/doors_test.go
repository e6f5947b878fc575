package policy_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	solanago "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// pinnedTables is a reader that knows lookup tables.
type pinnedTables map[solanago.PublicKey]solanago.PublicKeySlice

func (pinnedTables) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{}, false }

func (p pinnedTables) LookupTable(address []byte) (chains.LookupTable, bool) {
	entries, ok := p[solanago.PublicKeyFromBytes(address)]
	table := chains.LookupTable{Source: "table.json", Digest: strings.Repeat("ab", 32), Trust: "pinned"}
	for _, entry := range entries {
		table.Addresses = append(table.Addresses, entry.Bytes())
	}
	return table, ok
}

// tabled returns a payment to an entry of a lookup table.
func (d *ordinaryDraw) tabled(table, to solanago.PublicKey) string {
	d.t.Helper()
	pay := solanago.NewInstruction(solanago.SystemProgramID, metas("bw", d.owner, to), little(2, 1_000_000_000))
	tx, err := solanago.NewTransaction([]solanago.Instruction{pay}, solanago.HashFromBytes(d.stranger()), solanago.TransactionPayer(d.owner),
		solanago.TransactionAddressTables(map[solanago.PublicKey]solanago.PublicKeySlice{table: {to}}))
	testenv.Must(d.t, err)
	tx.Signatures = make([]solanago.Signature, 1)
	raw, err := tx.MarshalBinary()
	testenv.Must(d.t, err)
	return hex.EncodeToString(raw)
}

// sentAsMessage returns the same transaction as a payload, alone and in a list; none if its chain
// takes no transactions there.
func sentAsMessage(t *testing.T, intent activity.SignTransactionIntent) []activity.Intent {
	t.Helper()
	payload := activity.SignMessageIntent{SignWith: intent.SignWith, Payload: intent.UnsignedTransaction, Encoding: activity.EncodingHex}
	switch intent.Type {
	case activity.TransactionTypeTron:
		payload.HashFunction = activity.HashSHA256
	case activity.TransactionTypeSolana:
		raw := testenv.Hex(t, intent.UnsignedTransaction)
		payload.Payload, payload.HashFunction = hex.EncodeToString(raw[1+64*int(raw[0]):]), activity.HashNotApplicable
	default:
		return nil
	}
	return []activity.Intent{payload, activity.SignRawPayloadsIntent{SignWith: payload.SignWith, Payloads: []string{payload.Payload, payload.Payload},
		Encoding: payload.Encoding, HashFunction: payload.HashFunction}}
}

// TestDoorsAgree: a policy is asked the same about a transaction that is sent as a message, alone or
// in a list, as about one that is sent as such: effects, hazards, and what pinned tables say.
func TestDoorsAgree(t *testing.T) {
	asked := new(engines.Notes)
	draw := newOrdinaryDraw(t, enginetest.New(t), rand.New(rand.NewPCG(53, 4)))
	table, payee := solanago.PublicKeyFromBytes(draw.stranger()), solanago.PublicKeyFromBytes(draw.stranger())
	unknown := solanago.PublicKeyFromBytes(draw.stranger())
	f := enginetest.New(t, engines.WithDecider(asked), func(c *countersign.Config) { c.Descriptors = pinnedTables{table: {payee}} })
	ask := func(intent activity.Intent) access.Authorization {
		t.Helper()
		if _, err := f.Engine.As(access.User{ID: "u", Name: "u"}, "").Prepare(t.Context(), enginetest.Organization, intent); err != nil {
			t.Fatal(err)
		}
		return asked.Of[len(asked.Of)-1]
	}
	drawn, compared := draw.all(), 0
	for name, raw := range map[string]string{"a pinned table": draw.tabled(table, payee), "a table that is not known": draw.tabled(unknown, payee)} {
		drawn[name] = activity.SignTransactionIntent{SignWith: "key-2", Type: activity.TransactionTypeSolana, UnsignedTransaction: raw}
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		intent := drawn[name]
		for _, sent := range sentAsMessage(t, intent) {
			truth, other := ask(intent), ask(sent)
			if !other.Summary().Sent || len(other.Keys) != len(truth.Keys) {
				t.Errorf("%s: sent %t, keys %+v", name, other.Summary().Sent, other.Keys)
			}
			effects, hazards, readings, prefix := truth.Effects, truth.Hazards, truth.Readings, ""
			if _, several := sent.(activity.SignRawPayloadsIntent); several {
				prefix = "payload 1/"
				other.Effects = other.Effects[len(other.Effects)/2:]
				other.Readings = other.Readings[len(other.Readings)/2:]
				other.Hazards = other.Hazards[len(other.Hazards)/2:]
			}
			for i := range max(len(effects), len(other.Effects)) {
				if i >= len(effects) || i >= len(other.Effects) || fmt.Sprint(prefix, effects[i].Path) != other.Effects[i].Path {
					t.Fatalf("%s: %d effects, not %d: %+v", name, len(other.Effects), len(effects), other.Effects)
				}
				if got, want := shown(other.Effects[i:i+1]), shown(effects[i:i+1]); !slices.Equal(got, want) {
					t.Errorf("%s: %s, not %s", name, got, want)
				}
			}
			for i := range max(len(hazards), len(other.Hazards)) {
				if i >= len(hazards) || i >= len(other.Hazards) || hazards[i].Name != other.Hazards[i].Name {
					t.Fatalf("%s: hazards %+v, not %+v", name, other.Hazards, hazards)
				}
			}
			for i := range max(len(readings), len(other.Readings)) {
				if i >= len(readings) || i >= len(other.Readings) || prefix+readings[i].Path != other.Readings[i].Path || !reflect.DeepEqual(readings[i].Fields, other.Readings[i].Fields) {
					t.Fatalf("%s: readings %+v, not %+v", name, other.Readings, readings)
				}
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("%d compared: the test shows nothing", compared)
	}
}

// TestBlockedBehindTable: who sends a transaction as a message, alone or with another, passes no deny
// of what a pinned table names, none of transactions and none of a network.
func TestBlockedBehindTable(t *testing.T) {
	draw := newOrdinaryDraw(t, enginetest.New(t), rand.New(rand.NewPCG(53, 5)))
	table, blocked, payee := solanago.PublicKeyFromBytes(draw.stranger()), solanago.PublicKeyFromBytes(draw.stranger()), solanago.PublicKeyFromBytes(draw.stranger())
	const rest = "  - {name: any, allow: [transfer, fee], of: OF, hazards: [solana/unresolved-account]}\n"
	for name, deny := range map[string]string{
		"the recipient":   "{name: no, deny: transfer, when: 'has(effect.to) && effect.to in blocked'}",
		"transactions":    "{name: no, deny: transfer, of: transactions}",
		"of a network":    "{name: no, deny: transfer, chains: [solana]}",
		"what is a table": "{name: no, deny: transfer, of: transactions, chains: [solana], when: 'effect.to in blocked'}",
	} {
		for _, of := range []string{"transactions", "messages"} {
			text := "schema: countersign.policy/2\nlists: {blocked: [" + blocked.String() + "]}\nrules:\n  - {name: uses, deny: mint, when: effect.to in blocked}\n  - " + deny + "\n" + strings.ReplaceAll(rest, "OF", of)
			f := enginetest.New(t, engines.WithPolicy(t, text), func(c *countersign.Config) { c.Descriptors = pinnedTables{table: {blocked, payee}} })
			intent := activity.SignTransactionIntent{SignWith: "key-2", Type: activity.TransactionTypeSolana, UnsignedTransaction: draw.tabled(table, blocked)}
			for _, sent := range append(sentAsMessage(t, intent), intent) {
				if _, err := engines.SubmitIntent(t, f, sent); err == nil || !strings.Contains(err.Error(), "rule no denies") {
					t.Errorf("a deny of %s, %T: %v", name, sent, err)
				}
			}
		}
	}
	open := "schema: countersign.policy/2\nrules:\n" + strings.ReplaceAll(rest, "OF", "transactions")
	f := enginetest.New(t, engines.WithPolicy(t, open))
	intent := activity.SignTransactionIntent{SignWith: "key-2", Type: activity.TransactionTypeSolana, UnsignedTransaction: draw.tabled(table, payee)}
	for _, sent := range append(sentAsMessage(t, intent), intent) {
		if _, err := engines.SubmitIntent(t, f, sent); err != nil {
			t.Errorf("%T: %v", sent, err)
		}
	}
	list := sentAsMessage(t, intent)[1].(activity.SignRawPayloadsIntent)
	list.Payloads[0] = hex.EncodeToString([]byte("hello there"))
	_, err := engines.SubmitIntent(t, f, list)
	enginetest.Refusal(t, err, activity.ReasonInvalidTransaction, "all payloads of a request must be transactions, or none")
}

// TestNoDoorForOthers: no form of a message takes a transaction of Bitcoin, Ethereum or Tempo.
func TestNoDoorForOthers(t *testing.T) {
	f := enginetest.New(t, engines.WithDecider(new(engines.Notes)))
	draw := newOrdinaryDraw(t, f, rand.New(rand.NewPCG(53, 6)))
	drawn := draw.all()
	drawn["Tempo"] = activity.SignTransactionIntent{Type: activity.TransactionTypeTempo, UnsignedTransaction: hex.EncodeToString((&omissions{Fixture: f, t: t}).onTempo()["a batch"].Encode())}
	for name, intent := range drawn {
		if len(sentAsMessage(t, intent)) > 0 {
			continue
		}
		raw := testenv.Hex(t, intent.UnsignedTransaction)
		for encoding, payload := range map[activity.Encoding]string{
			activity.EncodingHex: intent.UnsignedTransaction, activity.EncodingText: string(raw),
			activity.EncodingEIP712: string(raw), activity.EncodingAuthorization: string(raw),
		} {
			for _, hash := range []activity.HashFunction{activity.HashNone, activity.HashKeccak256, activity.HashSHA256, activity.HashDoubleSHA256, activity.HashNotApplicable} {
				for _, key := range []string{"key-1", "key-2"} {
					sent := activity.SignMessageIntent{SignWith: key, Payload: payload, Encoding: encoding, HashFunction: hash}
					if _, err := f.Engine.As(access.User{ID: "u", Name: "u"}, "").Prepare(t.Context(), enginetest.Organization, sent); err == nil {
						t.Errorf("%s: %s, %s with %s is signed", name, encoding, hash, key)
					}
				}
			}
		}
	}
}
