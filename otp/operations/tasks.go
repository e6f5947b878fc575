package operations

import (
	"context"
	"crypto"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// Service carries out activities about one-time passwords.
type Service struct {
	codes       *otp.Service
	proofSigner crypto.Signer // nil: codes are sent, but neither encrypted nor redeemed
}

// New returns a service over codes. proofSigner signs verification tokens and the keys that
// codes are encrypted to, such as Config.ProofSigner of the engine; if it is nil, codes
// cannot be redeemed.
func New(codes *otp.Service, proofSigner crypto.Signer) *Service {
	return &Service{codes: codes, proofSigner: proofSigner}
}

// Operations returns the operations for Config.Operations of an engine on the same store.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		{Type: activity.TypeInitOTPAuth, Prepare: s.prepareIssue, NeedsStore: true},
		{Type: activity.TypeInitOTPV2, Prepare: s.prepareIssue, NeedsStore: true},
		{Type: activity.TypeInitOTPV3, Prepare: s.prepareIssue, NeedsStore: true},
		{Type: activity.TypeVerifyOTP, Prepare: s.prepareVerification, NeedsStore: true},
		{Type: activity.TypeVerifyOTPV2, Prepare: s.prepareVerification, NeedsStore: true},
	}
}

// InitOTPAuth sends a one-time password, for programs that do not submit activities.
// If the intent has no appName, the organization's name is used.
func (s *Service) InitOTPAuth(ctx context.Context, organizationID, organizationName string,
	intent activity.InitOTPAuthIntent) (activity.InitOTPAuthResult, error) {
	id, err := s.codes.Issue(ctx, organizationID, organizationName, otpRequest(&intent, ""))
	if err != nil {
		return activity.InitOTPAuthResult{}, refuse(err)
	}
	return activity.InitOTPAuthResult{OTPID: id}, nil
}

// VerifyOTP redeems a one-time password, for programs that do not submit activities.
// Each call counts as an attempt.
func (s *Service) VerifyOTP(ctx context.Context, organizationID string, intent activity.VerifyOTPIntent) (activity.VerifyOTPResult, error) {
	var none activity.VerifyOTPResult
	redeem := redemption{VerifyOTPIntent: intent}
	if err := s.checkToken(&redeem); err != nil {
		return none, err
	}
	verified, err := s.codes.Verify(ctx, organizationID, intent.OTPID, intent.OTPCode)
	if err != nil {
		return none, refuse(err)
	}
	token, err := s.newToken(verified, &redeem, s.codes.Now())
	return activity.VerifyOTPResult{VerificationToken: token}, err
}

// otpRequest returns what an intent asks for. credential identifies whose sends are limited.
func otpRequest(intent *activity.InitOTPAuthIntent, credential string) otp.Request {
	return otp.Request{
		Type: otp.Type(intent.OTPType), Contact: intent.Contact, Credential: credential,
		Length: intent.OTPLength, Alphanumeric: intent.Alphanumeric, ExpirationSeconds: intent.ExpirationSeconds,
		AppName: intent.AppName, UserIdentifier: intent.UserIdentifier,
		SendFromEmailAddress: intent.SendFromEmailAddress, SendFromEmailSenderName: intent.SendFromEmailSenderName,
		ReplyToEmailAddress: intent.ReplyToEmailAddress, Email: otp.EmailCustomization(intent.EmailCustomization),
		SMS: otp.SMSCustomization(intent.SMSCustomization),
	}
}

// issuing is the work of sending a one-time password.
type issuing struct {
	operation.Plain

	issue  *otp.Issue
	intent activity.InitOTPAuthIntent
	result func() (activity.Result, error) // of a code that was sent
	now    func() time.Time
}

func (s *Service) prepareIssue(_ context.Context, request operation.Request) (operation.Task, error) {
	i := &issuing{now: request.Now}
	switch intent := request.Intent.(type) {
	case activity.InitOTPAuthIntent:
		i.intent = intent
		i.result = func() (activity.Result, error) { return activity.InitOTPAuthResult{OTPID: i.issue.ID()}, nil }
	case activity.InitOTPV2Intent:
		i.intent = activity.InitOTPAuthIntent(intent)
		i.result = func() (activity.Result, error) { return activity.InitOTPV2Result{OTPID: i.issue.ID()}, nil }
	case activity.InitOTPV3Intent:
		if err := s.checkSigner(intent.ActivityType(), "encryption targets"); err != nil {
			return nil, err
		}
		i.intent = activity.InitOTPAuthIntent(intent)
		i.result = func() (activity.Result, error) { // with the key that the code can be encrypted to
			bundle, err := s.codes.TargetBundle(request.Organization.ID, i.issue.ID(), s.proofSigner)
			if err != nil {
				return nil, activity.NewError(activity.ReasonUnavailable, "", err, "the proof key could not be used: try again")
			}
			return activity.InitOTPV3Result{OTPID: i.issue.ID(), TargetBundle: bundle}, nil
		}
	}
	issue, err := s.codes.Prepare(request.Organization.ID, request.Organization.Name, otpRequest(&i.intent, request.Credential))
	if err != nil {
		return nil, refuse(err)
	}
	i.issue = issue
	return i, nil
}

func (i *issuing) Effects(context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return []chains.Effect{{
		Kind: chains.KindOTP, By: chains.BySigner, Function: "send", Args: argsOf(i.issue.Contact(), i.intent.OTPType),
	}}, nil, nil
}

// argsOf returns what a policy can test of a code.
func argsOf(contact, kind string) []chains.Arg {
	return []chains.Arg{{Name: "contact", Value: contact}, {Name: "type", Value: kind}}
}

func (i *issuing) Begin(now time.Time) store.Change { return refusing(i.issue.Reserve(now)) }

// Perform delivers the message. If the result cannot be recorded afterwards, the code stays
// pending, which means that it can never be redeemed, and the message stays counted.
func (i *issuing) Perform(ctx context.Context) (operation.Outcome, error) {
	result, err := i.result() // first, since the message cannot be taken back
	if err == nil {
		if err = i.issue.Deliver(ctx); err != nil {
			err = refuse(err)
		}
	}
	if err != nil {
		return operation.Outcome{Release: refusing(i.issue.Failed(i.now()))}, err
	}
	return operation.Outcome{Result: result, Complete: refusing(i.issue.Activate(i.now()))}, nil
}

// redemption is what a request to redeem a code says, of either version.
type redemption struct {
	activity.VerifyOTPIntent
	encrypted bool
}

// ActivityType returns the type of the request.
func (r *redemption) ActivityType() activity.Type {
	if r.encrypted {
		return activity.TypeVerifyOTPV2
	}
	return activity.TypeVerifyOTP
}

// verifying is the work of redeeming a one-time password.
type verifying struct {
	operation.Plain

	verification   *otp.Verification
	organizationID string
	redeem         redemption
	service        *Service
	now            func() time.Time
}

func (s *Service) prepareVerification(_ context.Context, request operation.Request) (operation.Task, error) {
	redeem, err := s.redemption(request)
	if err != nil {
		return nil, err
	}
	verification, err := s.codes.PrepareVerification(request.Organization.ID, redeem.OTPID, redeem.OTPCode, request.Fingerprint)
	if err != nil {
		return nil, refuse(err)
	}
	return &verifying{verification: verification, organizationID: request.Organization.ID, redeem: redeem, service: s,
		now: request.Now}, nil
}

func (s *Service) redemption(request operation.Request) (redeem redemption, err error) {
	switch intent := request.Intent.(type) {
	case activity.VerifyOTPIntent:
		redeem.VerifyOTPIntent = intent
	case activity.VerifyOTPV2Intent:
		redeem = redemption{activity.VerifyOTPIntent{OTPID: intent.OTPID, ExpirationSeconds: intent.ExpirationSeconds}, true}
		redeem.OTPCode, redeem.PublicKey, err = s.codes.Open(request.Organization.ID, intent.OTPID, intent.EncryptedBundle)
		if err != nil {
			return redeem, refuse(err)
		}
	}
	return redeem, s.checkToken(&redeem)
}

func (v *verifying) Effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error) {
	kind, contact, err := v.service.codes.Of(ctx, v.organizationID, v.redeem.OTPID)
	if err != nil {
		return nil, nil, refuse(err)
	}
	return []chains.Effect{{Kind: chains.KindOTP, By: chains.BySigner, Function: "redeem", Args: argsOf(contact, string(kind))}}, nil, nil
}

func (v *verifying) Begin(now time.Time) store.Change { return refusing(v.verification.Attempt(now)) }

// Perform issues the token. The code is consumed as the activity is recorded.
func (v *verifying) Perform(context.Context) (operation.Outcome, error) {
	verified, err := v.verification.Verified()
	if err != nil {
		return operation.Outcome{}, refuse(err)
	}
	token, err := v.service.newToken(verified, &v.redeem, v.now())
	if err != nil {
		return operation.Outcome{}, err
	}
	var result activity.Result = activity.VerifyOTPResult{VerificationToken: token}
	if v.redeem.encrypted {
		result = activity.VerifyOTPV2Result{VerificationToken: token}
	}
	return operation.Outcome{Result: result, Complete: refusing(v.verification.Consume())}, nil
}

// checkToken refuses parameters that a token cannot hold, and any if there is no key for
// tokens, before the code is tried.
func (s *Service) checkToken(redeem *redemption) error {
	if err := s.checkSigner(redeem.ActivityType(), "verification tokens"); err != nil {
		return err
	}
	if _, err := otp.NewToken(otp.Verified{}, redeem.PublicKey, redeem.ExpirationSeconds, time.Time{}); err != nil {
		return refuse(err)
	}
	return nil
}

// checkSigner refuses a type that needs the proof key if there is none.
func (s *Service) checkSigner(kind activity.Type, signs string) error {
	if s.proofSigner == nil {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"%s is not available: this engine has no proof key to sign %s with", kind, signs)
	}
	return nil
}

// newToken returns the token of a code. A client that encrypts codes reads another form.
func (s *Service) newToken(verified otp.Verified, redeem *redemption, now time.Time) (string, error) {
	token, err := otp.NewToken(verified, redeem.PublicKey, redeem.ExpirationSeconds, now)
	if err != nil {
		return "", refuse(err)
	}
	sign := token.Sign
	if redeem.encrypted {
		sign = token.SignMillis
	}
	signed, err := sign(s.proofSigner)
	if err != nil {
		return "", activity.NewError(activity.ReasonUnavailable, "", err, "the proof key could not be used: try again")
	}
	return signed, nil
}

// refuse translates an error of the service into an *activity.Error, which does not
// reveal why a code is invalid.
func refuse(err error) error {
	if refused := refusal(err); refused != nil {
		return refused
	}
	return activity.NewError(activity.ReasonUnavailable, "", err, "the store of one-time passwords is unavailable: try again")
}

// refusal translates an error of the service that is not one of its store. It returns
// nil for any other.
func refusal(err error) error {
	var parameter *otp.ParameterError
	var limit *otp.LimitError
	var code *otp.CodeError
	switch {
	case errors.As(err, &parameter):
		return activity.NewError(parameterReason(parameter), parameter.Parameter, err, "%v", parameter)
	case errors.As(err, &limit):
		reason := activity.ReasonRateLimitExceeded
		if limit.Limit == otp.LimitSends {
			reason = activity.ReasonMaxOTPInitiated
		}
		refused := activity.NewError(reason, "", limit, "%v", limit)
		refused.RetryAfter = limit.RetryAfter
		return refused
	case errors.As(err, &code):
		return activity.NewError(activity.ReasonOTPInvalid, "", withheld{code}, "%v", otp.ErrInvalidCode)
	case errors.Is(err, otp.ErrDelivery):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the message could not be delivered: send the same body again")
	}
	return nil
}

// withheld is the cause of the refusal of a code. Its text, which is for the log, says
// why; the client's does not.
type withheld struct{ code *otp.CodeError }

func (w withheld) Error() string { return w.code.Why.Error() }

func (w withheld) Unwrap() error { return w.code }

// refusing is a change whose refusals are translated.
func refusing(change store.Change) store.Change {
	if change == nil {
		return nil
	}
	return store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		refused, err := change.Apply(ledger)
		if translated := refusal(refused); translated != nil {
			refused = translated
		}
		return refused, err
	})
}

func parameterReason(err *otp.ParameterError) activity.Reason {
	switch {
	case errors.Is(err, otp.ErrEmail):
		return activity.ReasonInvalidEmail
	case errors.Is(err, otp.ErrPhone):
		return activity.ReasonInvalidPhone
	}
	return activity.ReasonRequestInvalid
}
