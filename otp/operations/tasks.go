package operations

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// otpRequest returns what an intent asks for. credential identifies whose sends are limited.
func otpRequest(intent *activity.InitOTPAuthIntent, credential string) otp.Request {
	email, sms := otp.EmailCustomization(intent.EmailCustomization), otp.SMSCustomization(intent.SMSCustomization)
	request := otp.Request{
		Type: otp.Type(intent.OTPType), Contact: intent.Contact, Credential: credential,
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

func (s *Service) prepareIssue(_ context.Context, request operation.Request) (operation.Task, error) {
	intent := request.Intent.(activity.InitOTPAuthIntent)
	issue, err := s.codes.Prepare(request.Organization.ID, request.Organization.Name, otpRequest(&intent, request.Credential))
	if err != nil {
		return nil, refuse(err)
	}
	return &issuing{issue: issue, intent: intent, now: request.Now}, nil
}

func (i *issuing) Summary() *chains.Summary { return nil }

func (i *issuing) Hazards() []chains.Hazard { return nil }

func (i *issuing) Effects(context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return []chains.Effect{{
		Kind: chains.KindOTP, By: chains.BySigner, Function: "send",
		Args: []chains.Arg{{Name: "contact", Value: i.intent.Contact}, {Name: "type", Value: i.intent.OTPType}},
	}}, nil, nil
}

func (i *issuing) Begin(now time.Time) store.Change { return refusing(i.issue.Reserve(now)) }

// Perform delivers the message. If the result cannot be recorded afterwards, the code
// stays pending, which means that it can never be redeemed, and the message stays
// counted.
func (i *issuing) Perform(ctx context.Context) (operation.Outcome, error) {
	if err := i.issue.Deliver(ctx); err != nil {
		return operation.Outcome{Release: refusing(i.issue.Failed(i.now()))}, refuse(err)
	}
	return operation.Outcome{Result: activity.InitOTPAuthResult{OTPID: i.issue.ID()}, Complete: refusing(i.issue.Activate(i.now()))}, nil
}

// verifying is the work of redeeming a one-time password.
type verifying struct {
	verification *otp.Verification
	intent       activity.VerifyOTPIntent
	service      *Service
	now          func() time.Time
}

func (s *Service) prepareVerification(_ context.Context, request operation.Request) (operation.Task, error) {
	intent := request.Intent.(activity.VerifyOTPIntent)
	if err := s.checkToken(&intent); err != nil {
		return nil, err
	}
	verification, err := s.codes.PrepareVerification(request.Organization.ID, intent.OTPID, intent.OTPCode, request.Fingerprint)
	if err != nil {
		return nil, refuse(err)
	}
	return &verifying{verification: verification, intent: intent, service: s, now: request.Now}, nil
}

func (v *verifying) Summary() *chains.Summary { return nil }

func (v *verifying) Hazards() []chains.Hazard { return nil }

func (v *verifying) Effects(context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return []chains.Effect{{Kind: chains.KindOTP, By: chains.BySigner, Function: "redeem"}}, nil, nil
}

func (v *verifying) Begin(now time.Time) store.Change { return refusing(v.verification.Attempt(now)) }

// Perform issues the token. The code is consumed as the activity is recorded.
func (v *verifying) Perform(context.Context) (operation.Outcome, error) {
	verified, err := v.verification.Verified()
	if err != nil {
		return operation.Outcome{}, refuse(err)
	}
	result, err := v.service.newToken(verified, &v.intent, v.now())
	if err != nil {
		return operation.Outcome{}, err
	}
	return operation.Outcome{Result: result, Complete: refusing(v.verification.Consume())}, nil
}

// checkToken refuses parameters that a token cannot hold, and any if there is no key for
// tokens, before the code is tried.
func (s *Service) checkToken(intent *activity.VerifyOTPIntent) error {
	if s.proofSigner == nil {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"%s is not available: this engine has no proof key to sign verification tokens with", intent.ActivityType())
	}
	if _, err := otp.NewToken(otp.Verified{}, intent.PublicKey, intent.ExpirationSeconds, time.Time{}); err != nil {
		return refuse(err)
	}
	return nil
}

func (s *Service) newToken(verified otp.Verified, intent *activity.VerifyOTPIntent, now time.Time) (activity.VerifyOTPResult, error) {
	token, err := otp.NewToken(verified, intent.PublicKey, intent.ExpirationSeconds, now)
	if err != nil {
		return activity.VerifyOTPResult{}, refuse(err)
	}
	signed, err := token.Sign(s.proofSigner)
	if err != nil {
		return activity.VerifyOTPResult{}, activity.NewError(activity.ReasonUnavailable, "", err, "the proof key could not be used: try again")
	}
	return activity.VerifyOTPResult{VerificationToken: signed}, nil
}
