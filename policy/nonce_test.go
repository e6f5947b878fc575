package policy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
)

// replacing counts 300 wei and 3 USDC a day, of each nonce the largest.
const replacing = `schema: countersign.policy/2
assets:
  main: {chain: "eip155:1", token: native}
  usdc: {chain: "eip155:1", token: "` + usdc + `", decimals: 6}
limits:
  - {name: day, asset: main, max: "0.000000000000000300", window: 24h, per: organization, replaces: nonce}
  - {name: usdc-day, asset: usdc, max: "3", window: 24h, per: organization, replaces: nonce}
rules:
  - {name: pays, allow: transfer, when: effect.asset == main, limit: day, hazards: [ethereum/no-chain-id], of: transactions}
  - {name: usd, allow: [transfer, approve], when: effect.asset == usdc, limit: usdc-day}
  - {name: gas, allow: fee, when: "effect.amount <= units('1000000000000000000')", hazards: [ethereum/no-chain-id], of: transactions}
`

// paying is a transaction of type 2 of a chain and a nonce, both below 128.
func paying(chain, nonce byte, wei uint16) string {
	value := fmt.Sprintf("%02x", wei)
	switch {
	case wei > 0xff:
		value = fmt.Sprintf("82%04x", wei)
	case wei > 0x7f:
		value = fmt.Sprintf("81%02x", wei)
	}
	return fmt.Sprintf("02%02x%02x%02x843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b7%s80c0", 0xe7+len(value)/2, chain, nonce, value)
}

// nonceless is a legacy transaction without a chain id: its nonce is used up on each.
const nonceless = "e3078504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b782010080"

// authorized is an EIP-3009 authorization of 2 USDC.
func authorized(nonce int) string {
	return fmt.Sprintf(`{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],`+
		`"TransferWithAuthorization":[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"value","type":"uint256"},{"name":"validAfter","type":"uint256"},{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]},`+
		`"primaryType":"TransferWithAuthorization","domain":{"name":"USD Coin","version":"2","chainId":"1","verifyingContract":"%s"},`+
		`"message":{"from":"%s","to":"%s","value":"2000000","validAfter":"0","validBefore":"1795179600","nonce":"0x%064x"}}`, usdc, enginetest.Address, treasury, nonce)
}

// spender is an engine's fixture and an attacker of its limit.
type spender struct {
	*enginetest.Fixture
	t *testing.T
}

func newSpender(t *testing.T) *spender {
	t.Helper()
	return &spender{enginetest.New(t, func(config *countersign.Config) { config.Policy = load(t, replacing) }), t}
}

func (s *spender) send(unsigned, signWith string) error {
	s.Clock.Advance(time.Millisecond)
	_, err := s.Submit(s.t, enginetest.Request{Unsigned: unsigned, SignWith: signWith})
	return err
}

func (s *spender) signs(unsigned string) {
	s.t.Helper()
	if err := s.send(unsigned, ""); err != nil {
		s.t.Fatalf("%s: %v", unsigned, err)
	}
}

// refuses checks that something is refused without a signature.
func (s *spender) refuses(what string, err error) {
	s.t.Helper()
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok || refused.Reason != activity.ReasonLimitExceeded && refused.Reason != activity.ReasonNotAuthorized {
		s.t.Errorf("%s: %v", what, err)
	}
}

// TestReplacesNonce bumps a transaction, and then tries to spend twice by it.
func TestReplacesNonce(t *testing.T) {
	s := newSpender(t)
	other := strings.Repeat("3", 64)
	secret := []byte(other)[:32]
	added, err := s.Signing.Keystore.(*keys.Store).Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: "key-3", Curve: keystore.CurveSecp256k1, Secret: secret})
	testenv.Must(t, err)
	s.signs(paying(1, 7, 200)) // 200 wei
	s.signs(paying(1, 7, 250)) // 250
	s.signs(paying(1, 7, 220)) // 220
	before := s.Signing.Signatures.Load()
	s.refuses("a bump above the limit", s.send(paying(1, 7, 301), ""))
	s.refuses("another nonce", s.send(paying(1, 8, 200), ""))
	s.refuses("another chain", s.send(paying(10, 7, 200), ""))
	s.refuses("no chain", s.send(nonceless, ""))
	s.refuses("another key", s.send(paying(1, 7, 200), added.ID))
	if signed := s.Signing.Signatures.Load() - before; signed != 0 {
		t.Errorf("%d were signed", signed)
	}
	s.signs(paying(1, 8, 50)) // the 50 wei that are left
	s.Clock.Advance(24 * time.Hour)
	s.signs(paying(1, 7, 300)) // the nonce is used again after its window: all of it counts
	s.refuses("beside the nonce that was used again", s.send(paying(1, 8, 256), ""))
}

// TestReplacesNonceFailedBump: a bump that was refunded leaves what was signed before.
func TestReplacesNonceFailedBump(t *testing.T) {
	s := newSpender(t)
	s.signs(paying(1, 7, 250))
	s.Signing.Before = func(context.Context) error { return errors.New("the device is gone") }
	if err := s.send(paying(1, 7, 300), ""); err == nil {
		t.Fatal("it was signed")
	}
	s.Signing.Before = nil
	s.refuses("51 wei above 250", s.send(paying(1, 8, 51), ""))
	s.refuses("256 wei above 250", s.send(paying(1, 8, 256), ""))
	s.signs(paying(1, 8, 50))
}

// TestReplacesNonceNotOfMessages: each of two messages can be used, whatever their nonces.
func TestReplacesNonceNotOfMessages(t *testing.T) {
	s := newSpender(t)
	sign := func(text string) error {
		_, err := s.Engine.As(access.User{ID: "user-1"}, "").SignMessage(t.Context(), enginetest.Organization,
			activity.SignMessageIntent{SignWith: enginetest.Address, Payload: text, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone})
		return err
	}
	testenv.Must(t, sign(authorized(7)))
	s.refuses("a second authorization", sign(authorized(8)))
	s.refuses("one of the same nonce for another window", sign(strings.Replace(authorized(7), `"validAfter":"0"`, `"validAfter":"1"`, 1)))
}

// TestSlots lists what of an activity gives its charges a slot.
func TestSlots(t *testing.T) {
	inspected, err := all.Inspect(activity.TransactionTypeEthereum, paying(1, 7, 200), all.Limits{})
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		change func(*access.Authorization)
		want   string
	}{
		"a transaction":     {func(*access.Authorization) {}, "k-1 eip155:1 7"},
		"a message":         {func(a *access.Authorization) { a.Intent = activity.SignRawPayloadIntent{} }, ""},
		"no intent":         {func(a *access.Authorization) { a.Intent = nil }, ""},
		"Tempo":             {func(a *access.Authorization) { a.Chain = "tempo" }, ""},
		"two keys":          {func(a *access.Authorization) { a.Keys = append(a.Keys, access.SigningKey{ID: "k-2"}) }, ""},
		"no key":            {func(a *access.Authorization) { a.Keys = nil }, ""},
		"effects alone":     {func(a *access.Authorization) { about(a, "") }, ""},
		"no nonce":          {func(a *access.Authorization) { about(a, a.Chain, a.Summary().Fields[:2]...) }, ""},
		"a nonce of text":   {func(a *access.Authorization) { setField(a, chains.Text("nonce", "7")) }, ""},
		"every chain":       {func(a *access.Authorization) { setField(a, chains.Text("chain", "ANY").As("chain_id")) }, ""},
		"chain 0":           {func(a *access.Authorization) { setField(a, chains.Integer("chain", uint64(0)).As("chain_id")) }, ""},
		"a chain it is not": {func(a *access.Authorization) { setField(a, chains.Integer("chain", uint64(10)).As("chain_id")) }, ""},
	} {
		summary := inspected.Summary
		summary.Fields = append([]chains.Field{}, summary.Fields...)
		asked := ask(inspected.Effects...)
		asked.Intent = activity.SignTransactionIntent{}
		about(&asked, summary.Chain, summary.Fields...)
		test.change(&asked)
		rules := replacing
		if _, transaction := asked.Intent.(activity.SignTransactionIntent); !transaction {
			rules = strings.ReplaceAll(rules, ", hazards: [ethereum/no-chain-id], of: transactions", "")
		}
		file := load(t, rules)
		decision, err := file.Decide(t.Context(), asked)
		if err != nil || len(decision.Charges) != 1 || decision.Charges[0].Slot != test.want {
			t.Errorf("%s: %+v, %v", name, decision.Charges, err)
		}
		explained, err := file.Explain(t.Context(), asked)
		const says = "for organization; of the transactions with nonce 7 of this key, only the largest counts\n"
		if err != nil || strings.Contains(explained.String(), says) != (test.want != "") {
			t.Errorf("%s: %v, %v", name, explained, err)
		}
	}
}

// setField replaces a field of the summary.
func setField(a *access.Authorization, field chains.Field) {
	fields := a.Summary().Fields
	for i := range fields {
		if fields[i].Name() == field.Name() {
			fields[i] = field
		}
	}
}

// TestReplacesNonceRefused: a file cannot say it of a chain where it would be a hole.
func TestReplacesNonceRefused(t *testing.T) {
	const token = `token: "0x20C0000000000000000000000000000000000001", decimals: 6`
	for asset, want := range map[string]string{
		`{chain: "eip155:1", token: native}`:     "",
		`{chain: "eip155:84532", token: native}`: "",
		`{chain: "eip155:4217", ` + token + `}`:  "a nonce is one transaction",
		`{chain: "eip155:42431", ` + token + `}`: "a nonce is one transaction",
		`{chain: solana, token: native}`:         "a nonce is one transaction",
		`{chain: tron, token: native}`:           "a nonce is one transaction",
	} {
		text := "schema: countersign.policy/2\nassets: {coin: " + asset + "}\nlimits:\n" +
			"  - {name: day, asset: coin, max: \"1\", window: 24h, per: key, replaces: nonce}\nrules:\n  - {name: a, allow: transfer, limit: day}\n"
		_, err := policy.Parse("policy.yaml", []byte(text), options())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", asset, err)
		}
		if _, err := policy.Parse("policy.yaml", []byte(strings.Replace(text, "nonce", "all", 1)), options()); err == nil || !strings.Contains(err.Error(), "only nonce") {
			t.Errorf("replaces: all: %v", err)
		}
	}
}
