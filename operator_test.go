package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/store"
)

// TestAskedAboutRequest compares what AskedAboutRequest returns with what a Decider is asked
// when the same request is submitted: of every type that a policy decides, with and without
// hazards. It does nothing, so the code of a one-time password can still be used.
func TestAskedAboutRequest(t *testing.T) {
	asking := new(engines.Notes)
	f := ballot.New(t, enginetest.WithOTP(t, new(enginetest.Outbox)), engines.WithDecider(asking))
	user := ballot.Voter("user-1", "", f.APIKey)
	user.APIKeys[0].Activities = activity.Types()
	f.SetUsers(user)
	at := f.Clock.Now().UnixMilli()
	for kind, parameters := range map[activity.Type]string{
		activity.TypeSignTransaction:  fmt.Sprintf(`{"signWith":%q,"unsignedTransaction":%q,"type":"TRANSACTION_TYPE_ETHEREUM"}`, enginetest.Address, engines.BlindCall),
		activity.TypeSignRawPayload:   fmt.Sprintf(`{"signWith":%q,"payload":"\u0019Ethereum Signed Message:\n5hello","encoding":"PAYLOAD_ENCODING_TEXT_UTF8","hashFunction":"HASH_FUNCTION_KECCAK256"}`, enginetest.Address),
		activity.TypeSignRawPayloads:  fmt.Sprintf(`{"signWith":%q,"payloads":["\u0019Ethereum Signed Message:\n5hello"],"encoding":"PAYLOAD_ENCODING_TEXT_UTF8","hashFunction":"HASH_FUNCTION_KECCAK256"}`, enginetest.Address),
		activity.TypeSignTransactions: fmt.Sprintf(`{"type":"TRANSACTION_TYPE_ETHEREUM","transactions":[{"signWith":%q,"unsignedTransaction":%q}]}`, enginetest.Address, engines.BlindCall),
		activity.TypeInitOTPAuth:      `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com"}`,
		activity.TypeInitOTPV2:        `{"otpType":"OTP_TYPE_EMAIL","contact":"ben@example.com"}`,
		activity.TypeInitOTPV3:        `{"otpType":"OTP_TYPE_EMAIL","contact":"eve@example.com"}`,
	} {
		sent := f.APIKey.Sign(fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":%s,"generateAppProofs":false}`,
			kind, at, enginetest.Organization, parameters))
		each, err := f.Engine.Operator().AskedAboutRequest(t.Context(), sent)
		if err != nil || len(each) != 1 {
			t.Errorf("%s: %d, %v", kind, len(each), err)
			continue
		}
		before := each[0]
		if len(asking.Of) != 0 {
			t.Fatalf("%s: the policy was asked", kind)
		}
		_, err = f.Engine.Submit(t.Context(), sent)
		if len(asking.Of) == 0 {
			t.Errorf("%s: the policy was not asked: %v", kind, err)
			continue
		}
		asked := asking.Of[0]
		if (before.Summary == nil) != (asked.Summary == nil) || before.Summary != nil && !reflect.DeepEqual(before.Summary(), asked.Summary()) {
			t.Errorf("%s: another summary", kind)
		}
		if before.Summary, asked.Summary = nil, nil; !reflect.DeepEqual(before, asked) {
			t.Errorf("%s: returned %+v, asked about %+v", kind, before, asked)
		}
		asking.Of = nil
	}
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

// judged is a Decider that notes the user it is asked about.
type judged struct {
	user     access.User
	decision access.Decision
	refusal  error
}

func (j *judged) Authorize(ctx context.Context, asked access.Authorization) error {
	_, err := j.Decide(ctx, asked)
	return err
}

func (j *judged) Decide(_ context.Context, asked access.Authorization) (access.Decision, error) {
	j.user = asked.User
	return j.decision, j.refusal
}

// TestSubmitterOfCalls checks that calls without a stamp are judged as their user. A call
// that is charged to a limit is signed; one that would have to wait for votes is refused if
// the directory does not know its user.
func TestSubmitterOfCalls(t *testing.T) {
	machine := access.User{ID: "machine", Name: "machine", Tags: []string{"agent"}}
	for name, test := range map[string]struct {
		policy    judged
		submitter *access.User
		reason    activity.Reason // empty: signed
	}{
		"allowed":        {judged{decision: access.Decision{Rules: []string{"all"}}}, &machine, ""},
		"denied":         {judged{refusal: access.ErrDenied}, &machine, activity.ReasonNotAuthorized},
		"charged":        {judged{decision: access.Decision{Rules: []string{"all"}, Charges: []store.Charge{ofTwo()}}}, &machine, ""},
		"waits":          {judged{decision: access.Decision{Rules: []string{"all"}, Approvals: []access.Group{{Rule: "all", Count: 2}}}}, &machine, activity.ReasonNotAuthorized},
		"its own vote":   {judged{decision: access.Decision{Rules: []string{"all"}, Approvals: []access.Group{{Rule: "all", Count: 1, Tag: "agent"}}}}, &machine, activity.ReasonNotAuthorized},
		"without a user": {judged{decision: access.Decision{Rules: []string{"all"}}}, nil, activity.ReasonNotAuthorized},
	} {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, func(config *countersign.Config) { config.Policy = &test.policy })
			var as calls = f.Engine
			if test.submitter != nil {
				as = f.Engine.As(*test.submitter, "")
			}
			signs := map[string]func() error{
				"SignTransaction": func() error {
					_, err := as.SignTransaction(t.Context(), enginetest.Organization, payout())
					return err
				},
				"SignMessage": func() error {
					_, err := as.SignMessage(t.Context(), enginetest.Organization, engines.Payload(engines.Greeting, activity.EncodingText, activity.HashKeccak256))
					return err
				},
			}
			for call, sign := range signs {
				err := sign()
				if test.reason == "" && err != nil {
					t.Errorf("%s: %v", call, err)
				}
				if test.reason != "" {
					enginetest.Refusal(t, err, test.reason, "")
				}
			}
			if signatures := f.Signing.Signatures.Load(); (signatures == int64(len(signs))) != (test.reason == "") || test.reason != "" && signatures != 0 {
				t.Errorf("%d signatures", signatures)
			}
			if test.submitter != nil && test.policy.user.ID != machine.ID {
				t.Errorf("judged as %+v", test.policy.user)
			}
		})
	}
}

// ofTwo returns a charge to a limit that has room for two.
func ofTwo() store.Charge {
	return store.Charge{Limit: "payouts-day", Subject: "all", Amount: big.NewInt(1), Max: big.NewInt(2), Window: 24 * time.Hour}
}
