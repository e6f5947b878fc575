package messages_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// TestSignMessage compares each kind of message with go-ethereum, which hashes it
// independently and recovers the signer.
func TestSignMessage(t *testing.T) {
	f := enginetest.New(t, engines.WithHazards("ethereum/delegation"))
	var typed apitypes.TypedData
	testenv.JSON(t, []byte(engines.PermitText), &typed)
	typedDigest, _, err := apitypes.TypedDataAndHash(typed)
	testenv.Must(t, err)
	authorization := types.SetCodeAuthorization{ChainID: *uint256.NewInt(1), Address: common.Address{0xaa}, Nonce: 7}
	authorizationDigest := authorization.SigHash()
	for name, test := range map[string]struct {
		intent activity.SignMessageIntent
		digest []byte
	}{
		"typed data":    {engines.Payload(engines.PermitText, activity.EncodingEIP712, activity.HashNone), typedDigest},
		"personal hex":  {engines.Payload(hex.EncodeToString([]byte(engines.Greeting)), activity.EncodingHex, activity.HashKeccak256), accounts.TextHash([]byte(engines.Login))},
		"personal text": {engines.Payload(engines.Greeting, activity.EncodingText, activity.HashKeccak256), accounts.TextHash([]byte(engines.Login))},
		"authorization": {engines.Payload(fmt.Sprintf(`{"address":%q,"chainId":1,"nonce":7}`, authorization.Address), activity.EncodingAuthorization, activity.HashNone), authorizationDigest[:]},
	} {
		signed, err := f.Engine.SignMessage(t.Context(), enginetest.Organization, test.intent)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := engines.Recovered(t, test.digest, signed); got != enginetest.Address {
			t.Errorf("%s: recovered %s", name, got)
		}
	}
}

// TestSubmitMessages checks that messages are recorded, answered identically on a
// repeat, and have one signature for each payload.
func TestSubmitMessages(t *testing.T) {
	f := enginetest.New(t)
	body := engines.IntentBody(t, f, activity.SignRawPayloadsIntent{
		SignWith: enginetest.Address, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256,
		Payloads: []string{engines.Greeting, "\x19Ethereum Signed Message:\n50" + engines.Foundation},
	})
	first := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
	again := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
	if string(first.AppendAnswer(nil)) != string(again.AppendAnswer(nil)) || f.Signing.Signatures.Load() != 2 {
		t.Errorf("the answers differ, or %d signatures were made for 2 payloads", f.Signing.Signatures.Load())
	}
	signatures := first.Result.(activity.SignRawPayloadsResult).Signatures
	for i, text := range []string{engines.Login, engines.Foundation} {
		if got := engines.Recovered(t, accounts.TextHash([]byte(text)), signatures[i]); got != enginetest.Address {
			t.Errorf("payload %d: recovered %s", i, got)
		}
	}
	if len(first.AppProofs) != 1 || !strings.Contains(first.AppProofs[0].ProofPayload, "summaryDigest") {
		t.Errorf("proofs %v", first.AppProofs)
	}
}

// TestPayloadsAllOrNothing checks that nothing is signed if one payload is refused.
func TestPayloadsAllOrNothing(t *testing.T) {
	f := enginetest.New(t)
	for name, last := range map[string]string{
		"a hash":        strings.Repeat("ab", 32),
		"hazardous":     hex.EncodeToString([]byte("\x19Ethereum Signed Message:\n64" + strings.Repeat("ab", 32))),
		"another chain": hex.EncodeToString([]byte("\x19TRON Signed Message:\n3bye")),
	} {
		_, err := f.Engine.Sign(t.Context(), enginetest.Organization, activity.SignRawPayloadsIntent{SignWith: enginetest.Address,
			Encoding: activity.EncodingHex, HashFunction: activity.HashKeccak256, Payloads: []string{hex.EncodeToString([]byte(engines.Greeting)), last}})
		if err == nil || f.Signing.Signatures.Load() != 0 {
			t.Errorf("%s: %v, %d signatures", name, err, f.Signing.Signatures.Load())
		}
	}
}

// TestMessageHazards checks that hazards are refused, and allowed by name.
func TestMessageHazards(t *testing.T) {
	unknown := strings.NewReplacer(`"Permit"`, `"Mystery"`).Replace(engines.PermitText)
	for name, test := range map[string]struct {
		text     string
		encoding activity.Encoding
		hash     activity.HashFunction
	}{
		"eip712/unknown-type":       {unknown, activity.EncodingEIP712, activity.HashNone},
		"eip712/foreign-owner":      {strings.Replace(engines.PermitText, `"owner":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"`, `"owner":"0x00000000000000000000000000000000000000aa"`, 1), activity.EncodingEIP712, activity.HashNone},
		"eip712/far-deadline":       {strings.Replace(engines.PermitText, "1763726400", "1963726400", 1), activity.EncodingEIP712, activity.HashNone},
		"eip712/unlimited-approval": {strings.Replace(engines.PermitText, "250000000", "0x"+strings.Repeat("f", 64), 1), activity.EncodingEIP712, activity.HashNone},
		"ethereum/delegation":       {`{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":0}`, activity.EncodingAuthorization, activity.HashNone},
		"message/hash-like":         {"19" + hex.EncodeToString([]byte("Ethereum Signed Message:\n32")) + strings.Repeat("ab", 32), activity.EncodingHex, activity.HashKeccak256},
		"message/validator-data":    {"1900" + strings.Repeat("ab", 30), activity.EncodingHex, activity.HashKeccak256},
	} {
		intent := engines.Payload(test.text, test.encoding, test.hash)
		_, err := enginetest.New(t).Engine.SignMessage(t.Context(), enginetest.Organization, intent)
		if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonHazardNotAllowed ||
			refused.Field != "payload" || !strings.Contains(refused.Message, "the message is well-formed but hazardous: "+name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := enginetest.New(t, engines.WithHazards(name)).Engine.SignMessage(t.Context(), enginetest.Organization, intent); err != nil {
			t.Errorf("%s allowed: %v", name, err)
		}
	}
}

// TestSolanaMessageAsTransaction checks that the message of a Solana transaction is read
// as that transaction, with its effects, and that its signature is valid for the
// transaction.
func TestSolanaMessageAsTransaction(t *testing.T) {
	f := enginetest.New(t)
	seed := testenv.Hex(t, enginetest.Secret)
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey)
	message := transferMessage(public)
	for _, version := range []string{"legacy", "v0"} {
		raw := message
		if version == "v0" {
			raw = append(append([]byte{0x80}, message...), 0)
		}
		intent := activity.SignMessageIntent{SignWith: "key-2", Payload: hex.EncodeToString(raw), Encoding: activity.EncodingHex, HashFunction: activity.HashNotApplicable}
		prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent)
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if effects := prepared.Summary().Effects; effects[1].Kind != chains.KindTransfer || effects[1].Amount.Value.Int64() != 5 {
			t.Errorf("%s: effects %v", version, effects)
		}
		result, err := prepared.Sign(t.Context())
		testenv.Must(t, err)
		signed := result.(activity.SignRawPayloadResult)
		decoded, err := hex.DecodeString(signed.R + signed.S)
		if err != nil || !ed25519.Verify(public, raw, decoded) || signed.V != "00" {
			t.Errorf("%s: %v", version, signed)
		}
	}
}

// transferMessage returns a legacy message that transfers 5 lamports to the key 0202….
func transferMessage(payer ed25519.PublicKey) []byte {
	message := append([]byte{1, 0, 1, 3}, payer...)
	message = append(message, strings.Repeat("\x02", 32)...)
	message = append(message, make([]byte, 32)...)             // System program
	message = append(message, strings.Repeat("\x03", 32)...)   // blockhash
	message = append(message, 1, 2, 2, 0, 1, 12)               // one instruction: program 2, accounts 0 and 1
	return append(message, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0) // transfer 5
}
