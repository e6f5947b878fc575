package operations

import (
	"context"
	"crypto"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/otp"
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

// Operations returns the operations for Config.Operations of an engine on the same
// store.
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
