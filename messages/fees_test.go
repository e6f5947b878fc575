package messages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// feeMessage is a message that lets others take a fee or a refund, or whose init code is
// run, and what the engine says of it with nothing allowed.
type feeMessage struct {
	Name, Source string
	Message      json.RawMessage // SIGNER stands for the address of the signer
	Hazards      []string        // by name
	Refused      string          // part of the error of a message that no hazard allows
}

func (m *feeMessage) intent() activity.SignMessageIntent {
	return engines.Payload(strings.ReplaceAll(string(m.Message), "SIGNER", enginetest.Address), activity.EncodingEIP712, activity.HashNone)
}

func feeMessages(t *testing.T) (all []feeMessage) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/fees.json"), &all)
	return all
}

// TestFeesOfMessages checks that each message is signed with nothing allowed if it has no
// hazards, and is otherwise refused with exactly these.
func TestFeesOfMessages(t *testing.T) {
	f := enginetest.New(t)
	for _, m := range feeMessages(t) {
		prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, m.intent())
		switch {
		case m.Refused != "":
			if err == nil || !strings.Contains(err.Error(), m.Refused) {
				t.Errorf("%s: %v, want %q", m.Name, err, m.Refused)
			}
		case len(m.Hazards) == 0:
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
			} else if _, err := prepared.Sign(t.Context()); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		case err == nil:
			t.Errorf("%s: not refused, want %v", m.Name, m.Hazards)
		default:
			enginetest.Refusal(t, err, activity.ReasonHazardNotAllowed, strings.Join(m.Hazards, ", "))
			allowed := enginetest.New(t, engines.WithHazards(m.Hazards...))
			if _, err := allowed.Engine.Prepare(t.Context(), enginetest.Organization, m.intent()); err != nil {
				t.Errorf("%s: with %v allowed: %v", m.Name, m.Hazards, err)
			}
		}
	}
}

// feeIntent returns the intent of a message by its name, with texts replaced.
func feeIntent(t *testing.T, name string, replace ...string) activity.SignMessageIntent {
	t.Helper()
	all := feeMessages(t)
	i := slices.IndexFunc(all, func(m feeMessage) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	all[i].Message = json.RawMessage(strings.NewReplacer(replace...).Replace(string(all[i].Message)))
	return all[i].intent()
}

// feeRules bound fees, and allow refunds to one relayer only.
const feeRules = `schema: countersign.policy/2
lists:
  relayers: ["0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"]
rules:
  - {name: nothing, allow: transfer, on: ethereum, when: "effect.amount <= wei('1')"}
  - {name: gas, allow: fee, on: ethereum, when: "effect.amount <= ether('0.02')"}
  - name: relayed
    allow: transfer
    on: ethereum
    when: effect.to in relayers && effect.amount <= units('1040000000000')
    of: messages
    chains: [eip155:1]
    hazards: [ethereum/refund]
`

// TestFeeRules: a rule decides about the fees of a message as about those of a transaction,
// and a rule on the receiver can allow a refund.
func TestFeeRules(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, feeRules))
	for name, c := range map[string]struct {
		intent  activity.SignMessageIntent
		refused string
	}{
		"plain":                      {feeIntent(t, "a plain operation"), ""},
		"sponsored":                  {feeIntent(t, "a sponsored operation", `"sender": "SIGNER"`, `"sender": "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"`), ""},
		"a fee over the rule":        {feeIntent(t, "a plain operation", "04a817c800", "ffffffffff"), "not covered by any rule"},
		"a fee over the cap":         {feeIntent(t, "the zero address as paymaster"), "not covered by any rule"},
		"a refund to the relayer":    {feeIntent(t, "1 wei from a Safe, with a refund in USDC"), ""},
		"a refund of more":           {feeIntent(t, "1 wei from a Safe, with a refund in USDC", `"baseGas": "1000000"`, `"baseGas": "1000001"`), "not covered by any rule"},
		"a refund to another":        {feeIntent(t, "a refund that empties the Safe"), "not covered by any rule"},
		"a refund to the submitter":  {feeIntent(t, "a refund to the submitter"), "not covered by any rule"},
		"a rejection with a refund":  {feeIntent(t, "a rejection with a refund"), "not covered by any rule"},
		"a rejection without refund": {feeIntent(t, "a rejection"), ""},
	} {
		_, err := engines.SubmitIntent(t, f, c.intent)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

// TestOwnAccounts: a fee that a key of the organization pays as the paymaster is the
// organization's, and init code of an account of such a key is a call of that account.
func TestOwnAccounts(t *testing.T) {
	keys := memory.New()
	var addresses []string
	for i := range 2 {
		info, err := keys.Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: fmt.Sprintf("key-%d", i+1), Curve: keystore.CurveSecp256k1,
			Secret: bytes.Repeat([]byte{0x46 + byte(i)}, keystore.SecretSize)})
		testenv.Must(t, err)
		addresses = append(addresses, all.Addresses(info.PublicKey)[0].Address)
	}
	other := strings.ToLower(addresses[1][2:])
	with := func(c *countersign.Config) { c.Keystore = keys }
	sponsored := feeIntent(t, "a huge fee that a paymaster pays", strings.Repeat("bad", 13)+"b", other)
	first := feeIntent(t, "the first operation of a SimpleAccount", strings.Repeat("ab", 20), other)
	both := activity.SignRawPayloadsIntent{SignWith: addresses[0], Payloads: []string{sponsored.Payload, first.Payload}, Encoding: sponsored.Encoding, HashFunction: sponsored.HashFunction}
	sponsored.SignWith, first.SignWith = addresses[0], addresses[0]
	for name, c := range map[string]struct {
		intent  activity.Intent
		hazards []string
	}{
		"paymaster": {sponsored, []string{"ethereum/high-fee"}},
		"sender":    {first, []string{"ethereum/blind-call"}},
		"both":      {both, []string{"ethereum/high-fee", "ethereum/blind-call"}},
	} {
		_, err := enginetest.New(t, with).Engine.Prepare(t.Context(), enginetest.Organization, c.intent)
		enginetest.Refusal(t, err, activity.ReasonHazardNotAllowed, strings.Join(c.hazards, ", "))
		prepared, err := enginetest.New(t, with, engines.WithHazards(c.hazards...)).Engine.Prepare(t.Context(), enginetest.Organization, c.intent)
		testenv.Must(t, err)
		effects, err := prepared.Effects(t.Context())
		testenv.Must(t, err)
		undecoded := false
		for _, e := range effects {
			undecoded = undecoded || e.Undecoded && strings.EqualFold(e.To.String(), addresses[1])
			if e.By != chains.BySigner {
				t.Errorf("%s: %s", name, chains.Sentence(e, nil))
			}
		}
		if want := slices.Contains(c.hazards, "ethereum/blind-call"); undecoded != want {
			t.Errorf("%s: a call of the account: %v, want %v", name, undecoded, want)
		}
	}
}
