// Package engines has what tests of an engine share: requests, messages and policies for the
// fixtures of enginetest.
package engines

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
)

// Payload is the intent to sign one message with the Ethereum key of the fixture.
func Payload(text string, encoding activity.Encoding, hash activity.HashFunction) activity.SignMessageIntent {
	return activity.SignMessageIntent{
		SignWith: enginetest.Address, Payload: text, Encoding: encoding, HashFunction: hash,
	}
}

// IntentBody returns a request for an intent, at the clock's time.
func IntentBody(t testing.TB, f *enginetest.Fixture, intent activity.Intent) string {
	t.Helper()
	parameters, err := json.Marshal(intent)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":%s,"generateAppProofs":true}`,
		intent.ActivityType(), f.Clock.Now().UnixMilli(), enginetest.Organization, parameters)
}

// SubmitIntent submits a request for an intent, a millisecond after the one before.
func SubmitIntent(t testing.TB, f *enginetest.Fixture, intent activity.Intent) (*activity.Record, error) {
	t.Helper()
	f.Clock.Advance(time.Millisecond)
	return f.Engine.Submit(t.Context(), f.APIKey.Sign(IntentBody(t, f, intent)))
}

// GetActivity returns the body of a query for an activity.
func GetActivity(organizationID, id string) string {
	return fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, organizationID, id)
}

// Recovered returns the address whose key signed a digest.
func Recovered(t testing.TB, digest []byte, signed activity.SignRawPayloadResult) string {
	t.Helper()
	raw, err := hex.DecodeString(signed.R + signed.S + signed.V)
	if err != nil {
		t.Fatal(err)
	}
	public, err := crypto.SigToPub(digest, raw)
	if err != nil {
		t.Fatal(err)
	}
	return crypto.PubkeyToAddress(*public).Hex()
}

// ToUser are the parameters of a one-time password for user@example.com.
const ToUser = `"otpType":"OTP_TYPE_EMAIL","contact":"user@example.com","alphanumeric":false`

// InitOTP returns the body of a request to send a one-time password.
func InitOTP(f *enginetest.Fixture, parameters string) string {
	return bodyOf("ACTIVITY_TYPE_INIT_OTP_AUTH_V3", f, parameters)
}

func bodyOf(kind string, f *enginetest.Fixture, parameters string) string {
	return fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{%s}}`,
		kind, f.Clock.Now().UnixMilli(), enginetest.Organization, parameters)
}

// VerifyOTP returns the body of a request to redeem a one-time password.
func VerifyOTP(f *enginetest.Fixture, otpID, code, more string) string {
	return bodyOf("ACTIVITY_TYPE_VERIFY_OTP", f, fmt.Sprintf(`"otpId":%q,"otpCode":%q%s`, otpID, code, more))
}

// IssueOTP sends a one-time password and returns its id.
func IssueOTP(t testing.TB, f *enginetest.Fixture) string {
	t.Helper()
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(InitOTP(f, ToUser)))
	return record.Result.(activity.InitOTPAuthResult).OTPID
}

// PermitText is a permit of 250 USDC for 0x08d2….
var PermitText = strings.TrimSpace(permitText)

//go:embed permit.json
var permitText string

// VoteText is a vote on Snapshot.
var VoteText = strings.TrimSpace(voteText)

//go:embed vote.json
var voteText string

// Two texts of templates that ship, and the first of them with its prefix.
const (
	Login      = "Approve Portals sign-in"
	Foundation = "Please sign this message to connect to Foundation."
	Greeting   = "\x19Ethereum Signed Message:\n23" + Login
)

// Permit returns the permit with another amount and nonce, which expires within the hour of the
// fixture's clock.
func Permit(amount, nonce string) string {
	return strings.NewReplacer(
		"250000000", amount, `"nonce":"0"`, `"nonce":"`+nonce+`"`, "1763726400", "1795179600",
	).Replace(PermitText)
}

// BlindCall calls deposit(uint256,address) of an unknown contract.
const BlindCall = "02f86e01808477359400850c92a69c00830186a0941234567890abcdef1234567890abcdef1234567880b844" +
	"6e553f6500000000000000000000000000000000000000000000000000000000000003e8" +
	"00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7c0"
