package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// messagePolicy allows permits for the router of up to 400 USDC a day, and Snapshot
// votes without a chain.
const messagePolicy = `schema: countersign.policy/2
lists:
  router: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
limits:
  - {name: usdc-day, asset: usdc, max: "400", window: 24h, per: key}
rules:
  - {name: permits, allow: [approve, transfer], when: "effect.asset == usdc && effect.to in router", limit: usdc-day}
  - name: votes
    allow: message
    on: ethereum
    when: effect.function == 'Vote' && effect.arg('domain.name') == 'snapshot'
    of: messages
    hazards: [eip712/no-chain-id, eip712/no-verifying-contract]
`

// TestPermitChargesLimit checks that a permit is charged to the token's limit like a
// transfer, alone or in a batch, is refused above the limit, and is signed again the
// next day.
func TestPermitChargesLimit(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, messagePolicy))
	permit := func(amount, nonce string) activity.SignMessageIntent {
		return engines.Payload(engines.Permit(amount, nonce), activity.EncodingEIP712, activity.HashNone)
	}
	if _, err := engines.SubmitIntent(t, f, permit("250000000", "0")); err != nil {
		t.Fatal(err)
	}
	_, err := engines.SubmitIntent(t, f, permit("150000001", "1"))
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "limit usdc-day")
	_, err = engines.SubmitIntent(t, f, activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone,
		Payloads: []string{engines.Permit("100000000", "1"), engines.Permit("50000001", "2")}})
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "limit usdc-day")
	if n := f.Signing.Signatures.Load(); n != 1 {
		t.Fatalf("%d signatures, want the first alone", n)
	}
	if _, err := engines.SubmitIntent(t, f, permit("150000000", "1")); err != nil {
		t.Errorf("what is left of the limit: %v", err)
	}
	_, err = engines.SubmitIntent(t, f, permit("0x"+strings.Repeat("f", 64), "2"))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "eip712/unlimited-approval")
	f.Clock.Advance(24*time.Hour + time.Second)
	later := engines.Payload(strings.Replace(engines.Permit("400000000", "2"), "1795179600", "1795266000", 1), activity.EncodingEIP712, activity.HashNone)
	if _, err := engines.SubmitIntent(t, f, later); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// TestPermitNotCovered checks that no rule covers a permit for another spender or token.
func TestPermitNotCovered(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, messagePolicy))
	for name, change := range map[string][2]string{
		"another spender": {"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"},
		"another token":   {"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xdAC17F958D2ee523a2206206994597C13D831ec7"},
		"another chain":   {`"chainId":"1"`, `"chainId":"10"`},
	} {
		_, err := engines.SubmitIntent(t, f, engines.Payload(strings.Replace(engines.Permit("1", "0"), change[0], change[1], 1), activity.EncodingEIP712, activity.HashNone))
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
		if f.Signing.Signatures.Load() != 0 {
			t.Errorf("%s: signed", name)
		}
	}
}

// TestMessageHazardsPerDomain checks that a rule allows a hazard only for its own
// domain, and in a batch only for its own message.
func TestMessageHazardsPerDomain(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, messagePolicy))
	if _, err := engines.SubmitIntent(t, f, engines.Payload(engines.VoteText, activity.EncodingEIP712, activity.HashNone)); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(engines.VoteText, `"name":"snapshot"`, `"name":"snapsh0t"`, 1)
	_, err := engines.SubmitIntent(t, f, engines.Payload(other, activity.EncodingEIP712, activity.HashNone))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "conditions that do not hold: votes")
	_, err = engines.SubmitIntent(t, f, activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone,
		Payloads: []string{engines.VoteText, other}})
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "effect 1 (message")
	f.WantSignatures(t, 1)
}

// dustPolicy allows two hazards for approvals of a worthless token, and none for USDC.
const dustPolicy = `schema: countersign.policy/2
lists:
  dust: ["0x1111111111111111111111111111111111111111"]
  usdc_token: ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]
rules:
  - {name: dust-anywhere, allow: approve, when: "effect.asset.token in dust", of: messages, hazards: [eip712/no-chain-id, eip712/far-deadline]}
  - {name: usdc-permits, allow: approve, when: "effect.asset.token in usdc_token"}
`

// permitBatch returns an allowance of Permit2 without a chain and with a far deadline, of
// one unit of some tokens.
func permitBatch(tokens ...string) string {
	details := make([]string, len(tokens))
	for i, token := range tokens {
		details[i] = fmt.Sprintf(`{"token":%q,"amount":"1","expiration":1795200000,"nonce":0}`, token)
	}
	return `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"verifyingContract","type":"address"}],` +
		`"PermitDetails":[{"name":"token","type":"address"},{"name":"amount","type":"uint160"},{"name":"expiration","type":"uint48"},{"name":"nonce","type":"uint48"}],` +
		`"PermitBatch":[{"name":"details","type":"PermitDetails[]"},{"name":"spender","type":"address"},{"name":"sigDeadline","type":"uint256"}]},` +
		`"primaryType":"PermitBatch","domain":{"name":"Permit2","verifyingContract":"0x000000000022D473030F116dDEE9F6B43aC78BA3"},` +
		`"message":{"details":[` + strings.Join(details, ",") + `],"spender":"0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af","sigDeadline":"9999999999"}}`
}

// TestDustLaundersNothing checks that a hazard of a whole message must be listed by the
// rules of all its effects, and of all effects of a batch, in any order.
func TestDustLaundersNothing(t *testing.T) {
	const dust, usdc = "0x1111111111111111111111111111111111111111", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	f := enginetest.New(t, engines.WithPolicy(t, dustPolicy))
	for _, tokens := range [][]string{{usdc}, {dust, usdc}, {usdc, dust}, {dust, dust, usdc}} {
		_, err := engines.SubmitIntent(t, f, engines.Payload(permitBatch(tokens...), activity.EncodingEIP712, activity.HashNone))
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "rule usdc-permits would cover it, but does not list the request's hazard")
	}
	for _, payloads := range [][]string{{permitBatch(dust), permitBatch(usdc)}, {permitBatch(usdc), permitBatch(dust)}} {
		_, err := engines.SubmitIntent(t, f, activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone, Payloads: payloads})
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "rule usdc-permits would cover it, but does not list the request's hazard")
	}
	f.WantSignatures(t, 0)
	if _, err := engines.SubmitIntent(t, f, engines.Payload(permitBatch(dust, dust), activity.EncodingEIP712, activity.HashNone)); err != nil {
		t.Error(err)
	}
	allowed := enginetest.New(t, engines.WithPolicy(t, dustPolicy), func(c *countersign.Config) {
		c.AllowHazards = []string{"eip712/no-chain-id", "eip712/far-deadline"}
	})
	if _, err := engines.SubmitIntent(t, allowed, engines.Payload(permitBatch(dust, usdc), activity.EncodingEIP712, activity.HashNone)); err != nil {
		t.Errorf("the configuration allows them: %v", err)
	}
}

// TestMessageWaitsForApproval checks that a message that needs votes is signed by the
// second one, exactly as the voters were shown it, and that its proof has the digest of
// that.
func TestMessageWaitsForApproval(t *testing.T) {
	b := ballot.New(t)
	waiting, err := engines.SubmitIntent(t, b.Fixture, engines.Payload(engines.Permit("250000000", "0"), activity.EncodingEIP712, activity.HashNone))
	testenv.Must(t, err)
	b.Is(waiting, activity.StatusConsensusNeeded)
	b.Is(b.Approve(b.Ann, waiting), activity.StatusConsensusNeeded)
	done := b.Approve(b.Ben, waiting)
	b.Is(done, activity.StatusCompleted)
	var typed apitypes.TypedData
	testenv.JSON(t, []byte(engines.Permit("250000000", "0")), &typed)
	digest, _, err := apitypes.TypedDataAndHash(typed)
	testenv.Must(t, err)
	if got := engines.Recovered(t, digest, done.Result.(activity.SignRawPayloadResult)); got != enginetest.Address {
		t.Errorf("recovered %s", got)
	}
	shown := fmt.Sprintf("%x", done.Reading.SummaryDigest())
	if len(done.AppProofs) != 1 || !strings.Contains(done.AppProofs[0].ProofPayload, shown) || shown == strings.Repeat("0", 64) {
		t.Errorf("proof %v, shown %s", done.AppProofs, shown)
	}
	if !strings.Contains(string(done.AppendAnswer(nil)), `"signRawPayloadResult"`) {
		t.Errorf("answered as %s", done.AppendAnswer(nil))
	}
}

// TestLogHasNoMessages checks that no log line has the text of a message that is signed,
// refused, or denied by a policy that repeats it.
func TestLogHasNoMessages(t *testing.T) {
	const secret = "meet-me-at-the-old-mill"
	personalText := fmt.Sprintf("\x19Ethereum Signed Message:\n%d%s", len(secret), secret)
	typed := strings.Replace(engines.VoteText, `"reason":""`, `"reason":"`+secret+`"`, 1)
	for name, change := range map[string]func(*countersign.Config){
		"signed":  engines.WithHazards(countersign.AllHazards),
		"refused": func(*countersign.Config) {},
		"denied":  engines.WithPolicy(t, messagePolicy),
		"denied by a policy that repeats it": func(c *countersign.Config) {
			c.Policy = access.PolicyFunc(func(_ context.Context, asked access.Authorization) error {
				return fmt.Errorf("%w: no %+v, %q", access.ErrDenied, asked.Effects[0].Args, asked.Effects[0].Args)
			})
		},
	} {
		for _, intent := range []activity.Intent{
			engines.Payload(personalText, activity.EncodingText, activity.HashKeccak256), engines.Payload(typed, activity.EncodingEIP712, activity.HashNone),
			engines.Payload(secret, activity.EncodingText, activity.HashKeccak256), // malformed: no prefix
			engines.Payload(strings.Replace(typed, `"choice":1`, `"choice":"`+secret+`"`, 1), activity.EncodingEIP712, activity.HashNone),
			activity.SignMessageIntent{SignWith: "key-2", Payload: secret, Encoding: activity.EncodingText, HashFunction: activity.HashNotApplicable},
			activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Payloads: []string{personalText, personalText}, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256},
		} {
			var log bytes.Buffer
			f := enginetest.New(t, change, func(c *countersign.Config) {
				c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			_, _ = engines.SubmitIntent(t, f, intent)
			if !strings.Contains(log.String(), "sign_raw_payload") {
				t.Fatalf("%s: the line is not there: %s", name, log.String())
			}
			if strings.Contains(log.String(), secret) {
				t.Errorf("%s: the log has the text: %s", name, log.String())
			}
		}
	}
}

// TestFreeTextApproved: a rule with approvals may list message/free-text. The text waits, voters are
// shown it, and what they approve is signed and nothing else.
func TestFreeTextApproved(t *testing.T) {
	const rules = `schema: countersign.policy/2
rules:
  - {name: logins, allow: message, when: "has(effect.domain) && effect.domain == 'app.example.com'"}
  - {name: texts, allow: message, of: messages, hazards: [message/free-text], approvals: [{count: 1, tag: finance, not: submitter}]}
`
	text := func(words string) activity.SignMessageIntent {
		return engines.Payload(string(personal.Preimage(personal.EthereumPrefix, []byte(words))), activity.EncodingText, activity.HashKeccak256)
	}
	const words = "I, the treasurer, lend you my \U0001f58a"
	unlisted := ballot.New(t, engines.WithPolicy(t, strings.Replace(rules, "[message/free-text]", "[message/loose-nonce]", 1)))
	_, err := engines.SubmitIntent(t, unlisted.Fixture, text(words))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "message/free-text")

	b := ballot.New(t, engines.WithPolicy(t, rules))
	waiting, err := engines.SubmitIntent(t, b.Fixture, text(words))
	testenv.Must(t, err)
	b.Is(waiting, activity.StatusConsensusNeeded)
	b.Fixture.WantSignatures(t, 0)
	review, err := json.Marshal(waiting.Viewer.Review)
	if err != nil || !strings.Contains(string(review), "I, the treasurer, lend you my") || !strings.Contains(string(review), "message/free-text") {
		t.Errorf("voters are shown %s, %v", review, err)
	}
	if waiting.Viewer.CanApprove {
		t.Error("the submitter may approve")
	}
	other, err := engines.SubmitIntent(t, b.Fixture, text("I, the treasurer, give you my pen"))
	testenv.Must(t, err)
	misled := *waiting
	misled.Reading = other.Reading
	_, err = b.Vote(b.Ann, activity.TypeApproveActivity, &misled)
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "")
	done := b.Approve(b.Ann, waiting)
	b.Is(done, activity.StatusCompleted)
	b.Fixture.WantSignatures(t, 1)
	if signer := engines.Recovered(t, accounts.TextHash([]byte(words)), done.Result.(activity.SignRawPayloadResult)); signer != enginetest.Address {
		t.Errorf("signed by %s", signer)
	}
	if again := b.Again(other); again.Status != activity.StatusConsensusNeeded {
		t.Errorf("another text is %s", again.Status)
	}
	for hazardous, name := range map[string]string{"Sign this message to derive your encryption key": "message/key-derivation",
		strings.Repeat("ab", 32): "message/hash-like"} {
		_, err := engines.SubmitIntent(t, b.Fixture, text(hazardous))
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, name)
	}
	b.Fixture.WantSignatures(t, 1)
}
