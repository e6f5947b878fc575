package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// InitOTPAuth sends a one-time password, for embedders that do not submit activities.
// If the intent has no appName, the organization's name is used.
func (e *Engine) InitOTPAuth(ctx context.Context, organizationID, organizationName string, intent activity.InitOTPAuthIntent) (activity.InitOTPAuthResult, error) {
	if err := e.otpReady(intent.ActivityType()); err != nil {
		return activity.InitOTPAuthResult{}, err
	}
	id, err := e.config.OTP.Issue(ctx, organizationID, organizationName, otpRequest(&intent))
	if err != nil {
		return activity.InitOTPAuthResult{}, refuseOTP(err)
	}
	return activity.InitOTPAuthResult{OTPID: id}, nil
}

// VerifyOTP redeems a one-time password, for embedders that do not submit activities.
// Each call counts as an attempt.
func (e *Engine) VerifyOTP(ctx context.Context, organizationID string, intent activity.VerifyOTPIntent) (activity.VerifyOTPResult, error) {
	var none activity.VerifyOTPResult
	if err := e.otpReady(intent.ActivityType()); err != nil {
		return none, err
	}
	if err := e.checkToken(&intent); err != nil {
		return none, err
	}
	verified, err := e.config.OTP.Verify(ctx, organizationID, intent.OTPID, intent.OTPCode)
	if err != nil {
		return none, refuseOTP(err)
	}
	return e.newToken(verified, &intent)
}

// otpReady refuses a type that the engine is not configured for.
func (e *Engine) otpReady(kind activity.Type) error {
	switch {
	case e.config.OTP == nil:
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"%s is not available: this engine has no service for one-time passwords", kind)
	case kind == activity.TypeVerifyOTP && e.config.ProofSigner == nil:
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"%s is not available: this engine has no proof key to sign verification tokens with", kind)
	}
	return nil
}

func otpRequest(intent *activity.InitOTPAuthIntent) otp.Request {
	email, sms := otp.EmailCustomization(intent.EmailCustomization), otp.SMSCustomization(intent.SMSCustomization)
	request := otp.Request{
		Type: otp.Type(intent.OTPType), Contact: intent.Contact,
		Length: intent.OTPLength, Alphanumeric: intent.Alphanumeric, ExpirationSeconds: intent.ExpirationSeconds,
		AppName: intent.AppName, UserIdentifier: intent.UserIdentifier,
		SendFromEmailAddress: intent.SendFromEmailAddress, SendFromEmailSenderName: intent.SendFromEmailSenderName,
		ReplyToEmailAddress: intent.ReplyToEmailAddress,
	}
	if email != (otp.EmailCustomization{}) {
		request.Email = &email
	}
	if sms != (otp.SMSCustomization{}) {
		request.SMS = &sms
	}
	return request
}

// issuing is the work of sending a one-time password.
type issuing struct {
	issue  *otp.Issue
	intent activity.InitOTPAuthIntent
	now    func() time.Time
}

func (e *Engine) prepareIssue(_ context.Context, s *submission) (work, error) {
	intent := s.intent.(activity.InitOTPAuthIntent)
	if err := e.otpReady(intent.ActivityType()); err != nil {
		return nil, err
	}
	issue, err := e.config.OTP.Prepare(s.caller.organization.ID, s.caller.organization.Name, otpRequest(&intent))
	if err != nil {
		return nil, refuseOTP(err)
	}
	return &issuing{issue: issue, intent: intent, now: e.config.Now}, nil
}

func (i *issuing) summary() *chains.Summary { return nil }

func (i *issuing) hazards() []chains.Hazard { return nil }

func (i *issuing) effects(context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return []chains.Effect{{
		Kind: chains.KindOTP, By: chains.BySigner, Function: "send",
		Args: []chains.Arg{{Name: "contact", Value: i.intent.Contact}, {Name: "type", Value: i.intent.OTPType}},
	}}, nil, nil
}

func (i *issuing) begin(now time.Time) store.Change { return i.issue.Reserve(now) }

// perform delivers the message. If the result cannot be recorded afterwards, the code
// stays pending, which means that it can never be redeemed, and the message stays
// counted.
func (i *issuing) perform(ctx context.Context) (outcome, error) {
	if err := i.issue.Deliver(ctx); err != nil {
		return outcome{release: i.issue.Failed(i.now())}, refuseOTP(err)
	}
	return outcome{result: activity.InitOTPAuthResult{OTPID: i.issue.ID()}, complete: i.issue.Activate(i.now())}, nil
}

// verifying is the work of redeeming a one-time password.
type verifying struct {
	verification *otp.Verification
	intent       activity.VerifyOTPIntent
	engine       *Engine
}

func (e *Engine) prepareVerification(_ context.Context, s *submission) (work, error) {
	intent := s.intent.(activity.VerifyOTPIntent)
	if err := e.otpReady(intent.ActivityType()); err != nil {
		return nil, err
	}
	if err := e.checkToken(&intent); err != nil {
		return nil, err
	}
	verification, err := e.config.OTP.PrepareVerification(s.caller.organization.ID, intent.OTPID, intent.OTPCode, s.request.Fingerprint)
	if err != nil {
		return nil, refuseOTP(err)
	}
	return &verifying{verification: verification, intent: intent, engine: e}, nil
}

func (v *verifying) summary() *chains.Summary { return nil }

func (v *verifying) hazards() []chains.Hazard { return nil }

func (v *verifying) effects(context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return []chains.Effect{{Kind: chains.KindOTP, By: chains.BySigner, Function: "redeem"}}, nil, nil
}

func (v *verifying) begin(now time.Time) store.Change { return v.verification.Attempt(now) }

// perform issues the token. The code is consumed as the activity is recorded.
func (v *verifying) perform(context.Context) (outcome, error) {
	verified, err := v.verification.Verified()
	if err != nil {
		return outcome{}, refuseOTP(err)
	}
	result, err := v.engine.newToken(verified, &v.intent)
	if err != nil {
		return outcome{}, err
	}
	return outcome{result: result, complete: v.verification.Consume()}, nil
}

// checkToken refuses parameters that a token cannot hold, before the code is tried.
func (e *Engine) checkToken(intent *activity.VerifyOTPIntent) error {
	if _, err := otp.NewToken(otp.Verified{}, intent.PublicKey, intent.ExpirationSeconds, time.Time{}); err != nil {
		return refuseOTP(err)
	}
	return nil
}

func (e *Engine) newToken(verified otp.Verified, intent *activity.VerifyOTPIntent) (activity.VerifyOTPResult, error) {
	token, err := otp.NewToken(verified, intent.PublicKey, intent.ExpirationSeconds, e.config.Now())
	if err != nil {
		return activity.VerifyOTPResult{}, refuseOTP(err)
	}
	signed, err := token.Sign(e.config.ProofSigner)
	if err != nil {
		return activity.VerifyOTPResult{}, activity.NewError(activity.ReasonUnavailable, "", err, "the proof key could not be used: try again")
	}
	return activity.VerifyOTPResult{VerificationToken: signed}, nil
}
