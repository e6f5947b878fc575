package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/ballot"
)

// TestAskedAboutRequest compares what AskedAboutRequest returns with what a Decider is asked
// when the same request is submitted: of every type that a policy decides, with and without
// hazards. It does nothing, so the code of a one-time password can still be used.
func TestAskedAboutRequest(t *testing.T) {
	asking := new(notes)
	f := ballot.New(t, enginetest.WithOTP(t, new(enginetest.Outbox)), withDecider(asking))
	user := ballot.Voter("user-1", "", f.APIKey)
	user.APIKeys[0].Activities = activity.Types()
	f.SetUsers(user)
	at := f.Clock.Now().UnixMilli()
	for kind, parameters := range map[activity.Type]string{
		activity.TypeSignTransaction: fmt.Sprintf(`{"signWith":%q,"unsignedTransaction":%q,"type":"TRANSACTION_TYPE_ETHEREUM"}`, enginetest.Address, blind),
		activity.TypeSignRawPayload:  fmt.Sprintf(`{"signWith":%q,"payload":"\u0019Ethereum Signed Message:\n5hello","encoding":"PAYLOAD_ENCODING_TEXT_UTF8","hashFunction":"HASH_FUNCTION_KECCAK256"}`, enginetest.Address),
		activity.TypeSignRawPayloads: fmt.Sprintf(`{"signWith":%q,"payloads":["\u0019Ethereum Signed Message:\n5hello"],"encoding":"PAYLOAD_ENCODING_TEXT_UTF8","hashFunction":"HASH_FUNCTION_KECCAK256"}`, enginetest.Address),
		activity.TypeInitOTPAuth:     `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com"}`,
		activity.TypeInitOTPV2:       `{"otpType":"OTP_TYPE_EMAIL","contact":"ben@example.com"}`,
		activity.TypeInitOTPV3:       `{"otpType":"OTP_TYPE_EMAIL","contact":"eve@example.com"}`,
	} {
		sent := f.APIKey.Sign(fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":%s,"generateAppProofs":false}`,
			kind, at, enginetest.Organization, parameters))
		before, err := f.Engine.Operator().AskedAboutRequest(t.Context(), sent)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if len(asking.of) != 0 {
			t.Fatalf("%s: the policy was asked", kind)
		}
		_, err = f.Engine.Submit(t.Context(), sent)
		if len(asking.of) == 0 {
			t.Errorf("%s: the policy was not asked: %v", kind, err)
			continue
		}
		if asked := asking.of[0]; !reflect.DeepEqual(before, asked) {
			t.Errorf("%s: returned %+v, asked about %+v", kind, before, asked)
		}
		asking.of = nil
	}
}

// notes is a Decider that allows everything and keeps what it is asked.
type notes struct{ of []access.Authorization }

func (n *notes) Authorize(context.Context, access.Authorization) error { return nil }

func (n *notes) Decide(_ context.Context, asked access.Authorization) (access.Decision, error) {
	n.of = append(n.of, asked)
	return access.Decision{Hazards: asked.Hazards}, nil
}

// TestAskedAboutRequestOfAnyAge: an old request is not refused, unlike by CheckRequest. One
// with a wrong stamp, a vote, and a key that does not exist are.
func TestAskedAboutRequestOfAnyAge(t *testing.T) {
	f := ballot.New(t)
	old := f.APIKey.Sign(f.Body(enginetest.Request{At: f.Clock.Now().Add(-365 * 24 * time.Hour)}))
	if err := f.Engine.CheckRequest(t.Context(), old); err == nil {
		t.Error("CheckRequest accepts it")
	}
	if _, err := f.Engine.Operator().AskedAboutRequest(t.Context(), old); err != nil {
		t.Error(err)
	}
	forged := f.APIKey.Sign(f.Body(enginetest.Request{}))
	forged.Body = []byte(f.Body(enginetest.Request{SignWith: "another"}))
	for name, test := range map[string]struct {
		sent   countersign.SignedBody
		reason activity.Reason
	}{
		"wrong stamp": {forged, activity.ReasonSignatureInvalid},
		"no key":      {f.APIKey.Sign(f.Body(enginetest.Request{SignWith: "another"})), activity.ReasonNotFound},
		"vote":        {f.Ben.Sign(f.VoteBody(activity.TypeApproveActivity, f.Waiting(), "")), activity.ReasonRequestInvalid},
	} {
		_, err := f.Engine.Operator().AskedAboutRequest(t.Context(), test.sent)
		if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != test.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}
