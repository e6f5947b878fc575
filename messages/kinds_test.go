package messages_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/verify"
)

// secretText is in the messages of the tests and must not be in any log.
const secretText = "meet-me-at-the-old-mill"

// messageKind is a message of one kind, signed by a key of the fixture.
type messageKind struct {
	intent  activity.SignMessageIntent
	secrets []string // what the message says: in text and in hex
}

// messageKinds returns one message of each kind that the engine signs.
func messageKinds(t *testing.T) map[string]messageKind {
	t.Helper()
	seed := testenv.Hex(t, enginetest.Secret)
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	of := func(signWith, text string, encoding activity.Encoding, hash activity.HashFunction, secrets ...string) messageKind {
		return messageKind{activity.SignMessageIntent{SignWith: signWith, Payload: text, Encoding: encoding, HashFunction: hash},
			append(secrets, secretText, hex.EncodeToString([]byte(secretText)))}
	}
	prefixed := func(prefix string) string { return fmt.Sprintf("%s%d%s", prefix, len(secretText), secretText) }
	offchain := func(header string) string {
		return hex.EncodeToString([]byte("\xffsolana offchain" + header + string(public) + secretText))
	}
	v0 := "\xffsolana offchain\x00" + strings.Repeat("a", 32) + "\x00\x01" + string(public) + string([]byte{byte(len(secretText)), 0}) + secretText
	return map[string]messageKind{
		"typed data":    of(enginetest.Address, strings.Replace(engines.VoteText, `"reason":""`, `"reason":"`+secretText+`"`, 1), activity.EncodingEIP712, activity.HashNone),
		"unknown type":  of(enginetest.Address, strings.Replace(mysteryText, `USD Coin`, secretText, 1), activity.EncodingEIP712, activity.HashNone),
		"authorization": of(enginetest.Address, `{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":7}`, activity.EncodingAuthorization, activity.HashNone),
		"personal":      of(enginetest.Address, prefixed("\x19Ethereum Signed Message:\n"), activity.EncodingText, activity.HashKeccak256),
		"Tron":          of("key-1", prefixed("\x19TRON Signed Message:\n"), activity.EncodingText, activity.HashKeccak256),
		"validator":     of(enginetest.Address, "\x19\x00"+strings.Repeat("v", 20)+secretText, activity.EncodingText, activity.HashKeccak256),
		"off-chain 0":   of("key-2", hex.EncodeToString([]byte(v0)), activity.EncodingHex, activity.HashNotApplicable),
		"off-chain 1":   of("key-2", offchain("\x01\x01"), activity.EncodingHex, activity.HashNotApplicable),
		"raw text":      of("key-2", secretText, activity.EncodingText, activity.HashNotApplicable),
		"sign-in": of("key-2", "example.com wants you to sign in with your Solana account:\n"+base58.Encode(public)+"\n\n"+secretText, activity.EncodingText,
			activity.HashNotApplicable),
		"Solana's transaction": of("key-2", hex.EncodeToString(transferMessage(public)), activity.EncodingHex, activity.HashNotApplicable),
	}
}

// TestMessageContract checks each kind of message: it is signed once, answered
// identically on a repeat, recorded with its effects, and proven by what was shown.
// Without an allowed hazard it is refused if it has one. No log line, at any level, has
// its contents.
func TestMessageContract(t *testing.T) {
	for name, kind := range messageKinds(t) {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			logged := func(c *countersign.Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
			f := enginetest.New(t, engines.WithHazards(countersign.AllHazards), logged)
			prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, kind.intent)
			testenv.Must(t, err)
			body := engines.IntentBody(t, f, kind.intent)
			first := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
			again, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
			if err != nil || string(first.AppendAnswer(nil)) != string(again.AppendAnswer(nil)) || f.Signing.Signatures.Load() > 1 {
				t.Errorf("answered otherwise the second time (%v), after %d signatures", err, f.Signing.Signatures.Load())
			}
			checks, err := verify.Answer(first.AppendAnswer(nil), verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &f.ProofKey.PublicKey})
			passed := slices.DeleteFunc(checks, func(check verify.Check) bool { return check.Skipped != "" })
			if want := []verify.Check{{Name: "body"}, {Name: "status"}, {Name: "proof"}, {Name: "result"}, {Name: "summary"}}; err != nil || !slices.Equal(passed, want) {
				t.Errorf("the proof: %v, %v", checks, err)
			}
			if digest := prepared.Summary().Digest(); !strings.Contains(first.AppProofs[0].ProofPayload, hex.EncodeToString(digest[:])) {
				t.Errorf("the proof is of another summary: %s", first.AppProofs[0].ProofPayload)
			}
			strict := enginetest.New(t, logged)
			_, err = engines.SubmitIntent(t, strict, kind.intent)
			if (err == nil) != (len(prepared.Hazards()) == 0) {
				t.Errorf("with the hazards %v: %v", prepared.Hazards(), err)
			}
			if err != nil {
				enginetest.Refusal(t, err, activity.ReasonHazardNotAllowed, prepared.Hazards()[0].Name)
			}
			if !strings.Contains(log.String(), "sign_raw_payload") {
				t.Fatalf("the line is not there: %s", log.String())
			}
			for _, secret := range kind.secrets {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log has the text: %s", log.String())
				}
			}
		})
	}
}

// TestProofOfAnotherMessage checks that the proof of one message is not accepted for
// another one by the same key.
func TestProofOfAnotherMessage(t *testing.T) {
	f := enginetest.New(t)
	intent := engines.Payload(engines.Greeting, activity.EncodingText, activity.HashKeccak256)
	body := engines.IntentBody(t, f, intent)
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
	proof, err := activity.VerifyAppProof(record.AppProofs[0], &f.ProofKey.PublicKey)
	testenv.Must(t, err)
	proof.SummaryDigest = strings.Repeat("00", 32)
	forged, err := activity.NewAppProof(f.ProofKey, proof)
	testenv.Must(t, err)
	record.AppProofs[0] = forged
	_, err = verify.Answer(record.AppendAnswer(nil), verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &f.ProofKey.PublicKey})
	if !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), "another message was shown") {
		t.Error(err)
	}
}
