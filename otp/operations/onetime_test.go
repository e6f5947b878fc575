package operations_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/otp"
)

func TestOTP(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox))
	sent := f.APIKey.Sign(engines.InitOTP(f, engines.ToUser))
	first := enginetest.MustSubmit(t, f.Engine, sent)
	again, err := f.Engine.Submit(t.Context(), sent)
	if err != nil || !bytes.Equal(first.AppendAnswer(nil), again.AppendAnswer(nil)) || outbox.Sent() != 1 {
		t.Fatalf("again: %v, %d messages", err, outbox.Sent())
	}
	id := first.Result.(activity.InitOTPAuthResult).OTPID
	code := outbox.Code(t, id)
	if strings.Contains(string(first.AppendAnswer(nil)), code) {
		t.Error("the answer has the code")
	}
	redeem := f.APIKey.Sign(engines.VerifyOTP(f, id, code, `,"publicKey":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296","expirationSeconds":"60"`))
	record := enginetest.MustSubmit(t, f.Engine, redeem)
	text := record.Result.(activity.VerifyOTPResult).VerificationToken
	token, err := otp.VerifyToken(text, &f.ProofKey.PublicKey, enginetest.Organization, f.Clock.Now())
	testenv.Must(t, err)
	now := f.Clock.Now()
	want := otp.Token{ID: id, Type: otp.TypeEmail, Contact: "user@example.com", OrganizationID: enginetest.Organization, PublicKey: "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", IssuedAt: now, ExpiresAt: now.Add(time.Minute)}
	if token != want {
		t.Errorf("token %+v\nwant %+v", token, want)
	}
	if again, err := f.Engine.Submit(t.Context(), redeem); err != nil || again.Result != record.Result {
		t.Errorf("the identical body: %v, %v", again, err)
	}
	_, err = f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.VerifyOTP(f, id, code, "")))
	enginetest.Refusal(t, err, activity.ReasonOTPInvalid, "request a new one")
}

// TestSendsOfCredential: the limit is that of the key that stamps the request.
func TestSendsOfCredential(t *testing.T) {
	f := enginetest.New(t, enginetest.WithOTP(t, new(enginetest.Outbox), func(config *otp.Config) {
		config.Limits.Email.Credential = otp.Rate{Count: 2, Window: time.Hour}
	}))
	send := func(key *enginetest.APIKey, n int) error {
		parameters := fmt.Sprintf(`"otpType":"OTP_TYPE_EMAIL","contact":"user%d@example.com"`, n)
		_, err := f.Engine.Submit(t.Context(), key.Sign(engines.InitOTP(f, parameters)))
		return err
	}
	for who, send := range map[string]func(n int) error{
		"a key":       func(n int) error { return send(f.APIKey, n) },
		"another key": func(n int) error { return send(f.OTPOnly, 10+n) },
	} {
		for n := range 2 {
			if err := send(n); err != nil {
				t.Fatalf("%s: %v", who, err)
			}
		}
		refused := enginetest.Refusal(t, send(2), activity.ReasonRateLimitExceeded, "sends per credential: at most 2 in 1h0m0s")
		if refused.RetryAfter != time.Hour {
			t.Errorf("%s: retry after %v", who, refused.RetryAfter)
		}
	}
}

// TestCodeRefusalsEqual checks that wrong, unknown, dead and expired codes get the same
// answer.
func TestCodeRefusalsEqual(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox))
	answers := map[string]bool{}
	refuse := func(id, code, more string) {
		t.Helper()
		_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.VerifyOTP(f, id, code, more)))
		answers[string(enginetest.Refusal(t, err, activity.ReasonOTPInvalid, "").AppendJSON(nil))] = true
	}
	id := engines.IssueOTP(t, f)
	code := outbox.Code(t, id)
	refuse("not-an-id", code, "")
	refuse("00000000-0000-4000-8000-000000000000", code, "")
	for i := range 3 {
		refuse(id, "000000000", fmt.Sprintf(`,"expirationSeconds":"%d"`, 60+i))
	}
	refuse(id, code, "") // dead after the wrong attempts
	f.Clock.Advance(3 * time.Minute)
	second := engines.IssueOTP(t, f)
	f.Clock.Advance(5 * time.Minute)
	refuse(second, outbox.Code(t, second), "")
	if len(answers) != 1 {
		t.Errorf("answers differ: %v", answers)
	}
}

func TestOTPRefused(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox))
	for parameters, test := range map[string]struct {
		reason activity.Reason
		field  string
	}{
		`"otpType":"OTP_TYPE_EMAIL","contact":"nobody"`:                     {activity.ReasonInvalidEmail, "contact"},
		`"otpType":"OTP_TYPE_SMS","contact":"12"`:                           {activity.ReasonInvalidPhone, "contact"},
		engines.ToUser + `,"otpLength":5`:                                   {activity.ReasonRequestInvalid, "otpLength"},
		engines.ToUser + `,"emailCustomization":{"logoUrl":"http://a.b/c"}`: {activity.ReasonRequestInvalid, "emailCustomization.logoUrl"},
	} {
		_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.InitOTP(f, parameters)))
		if refused := enginetest.Refusal(t, err, test.reason, ""); refused.Field != test.field {
			t.Errorf("%s: field %q", parameters, refused.Field)
		}
	}
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.VerifyOTP(f, "a", "b", `,"expirationSeconds":"86401"`)))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "expirationSeconds")
	if outbox.Sent() != 0 {
		t.Error("something was sent")
	}
}

func TestSendLimit(t *testing.T) {
	f := enginetest.New(t, enginetest.WithOTP(t, new(enginetest.Outbox)))
	for range 3 {
		engines.IssueOTP(t, f)
		f.Clock.Advance(time.Second)
	}
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.InitOTP(f, engines.ToUser)))
	if refused := enginetest.Refusal(t, err, activity.ReasonMaxOTPInitiated, "retry in"); refused.RetryAfter != 177*time.Second {
		t.Errorf("come back after %v", refused.RetryAfter)
	}
}

// TestDeliveryFails checks that a failed delivery is UNAVAILABLE, that no code is alive,
// and that the same body may be tried again.
func TestDeliveryFails(t *testing.T) {
	outbox := &enginetest.Outbox{Fail: true}
	f := enginetest.New(t, enginetest.WithOTP(t, outbox))
	sent := f.APIKey.Sign(engines.InitOTP(f, engines.ToUser))
	_, err := f.Engine.Submit(t.Context(), sent)
	if refused := enginetest.Refusal(t, err, activity.ReasonUnavailable, "could not be delivered"); strings.Contains(refused.Message, "mail.internal") || !errors.Is(err, otp.ErrDelivery) {
		t.Errorf("message %q", refused.Message)
	}
	outbox.Fail = false
	if _, err := f.Engine.Submit(t.Context(), sent); err != nil || outbox.Sent() != 1 {
		t.Errorf("again: %v", err)
	}
}

func TestOTPCalls(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox))
	no := false
	result, err := outbox.Service.InitOTPAuth(t.Context(), "org", "Org", activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_EMAIL", Contact: "a@example.com", Alphanumeric: &no})
	testenv.Must(t, err)
	code := outbox.Code(t, result.OTPID)
	_, err = outbox.Service.VerifyOTP(t.Context(), "other", activity.VerifyOTPIntent{OTPID: result.OTPID, OTPCode: code})
	enginetest.Refusal(t, err, activity.ReasonOTPInvalid, "")
	verified, err := outbox.Service.VerifyOTP(t.Context(), "org", activity.VerifyOTPIntent{OTPID: result.OTPID, OTPCode: code})
	testenv.Must(t, err)
	if _, err := otp.VerifyToken(verified.VerificationToken, &f.ProofKey.PublicKey, "org", f.Clock.Now()); err != nil {
		t.Error(err)
	}
}

// TestOTPNeedsApprovals checks that a one-time password for which a policy demands
// approvals is refused, since only a transaction can wait for them: by CheckRequest too.
func TestOTPNeedsApprovals(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox), func(config *countersign.Config) {
		config.Policy = &ballot.Policy{Groups: []access.Group{{Rule: "payouts", Count: 2}}}
	})
	sent := f.APIKey.Sign(engines.InitOTP(f, engines.ToUser))
	const refusedBy = "rule payouts needs more approvals (2 missing), for which only a submitted transaction can wait"
	enginetest.Refusal(t, f.Engine.CheckRequest(t.Context(), sent), activity.ReasonNotAuthorized, refusedBy)
	_, err := f.Engine.Submit(t.Context(), sent)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, refusedBy)
	if outbox.Sent() != 0 {
		t.Errorf("%d messages were sent", outbox.Sent())
	}
}
