package countersign_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
)

// TestTypesThatMustBeNamed checks that only credentials whose list names them may submit
// votes and raw payloads. A credential without a list may submit all other types, one
// with a list nothing else. The test walks the table of operations, so that each new
// type must be classified.
func TestTypesThatMustBeNamed(t *testing.T) {
	named := []activity.Type{activity.TypeSignRawPayload, activity.TypeSignRawPayloads, activity.TypeApproveActivity, activity.TypeRejectActivity}
	unnamed := []activity.Type{activity.TypeSignTransaction, activity.TypeInitOTPAuth, activity.TypeInitOTPV2, activity.TypeInitOTPV3, activity.TypeVerifyOTP, activity.TypeVerifyOTPV2}
	for _, kind := range activity.Types() {
		if slices.Contains(named, kind) == slices.Contains(unnamed, kind) {
			t.Fatalf("%s: this test does not say whether it has to be named", kind)
		}
		for _, test := range []struct {
			list []activity.Type
			may  bool
		}{
			{nil, slices.Contains(unnamed, kind)},
			{[]activity.Type{kind}, true},
			{slices.DeleteFunc(activity.Types(), func(other activity.Type) bool { return other == kind }), false},
		} {
			if err := submittedBy(t, kind, test.list); errors.Is(err, errMayNot) == test.may {
				t.Errorf("%s by a credential with the list %v: %v", kind, test.list, err)
			}
		}
	}
}

// errMayNot stands for the refusal of a type.
var errMayNot = errors.New("the credential may not submit this type")

// submittedBy submits a request of a type with a key that has the given list.
func submittedBy(t *testing.T, kind activity.Type, list []activity.Type) error {
	t.Helper()
	key := enginetest.NewAPIKey(t)
	config := key.Config()
	config.Activities = list
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: []access.UserConfig{
		{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{config}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	f := enginetest.New(t, enginetest.WithOTP(t, new(enginetest.Outbox)), func(config *countersign.Config) { config.Directory = directory })
	_, err = f.Engine.Submit(t.Context(), key.Sign(fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":%s}`,
		kind, f.Clock.Now().UnixMilli(), enginetest.Organization, minimal[kind])))
	if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonNotAuthorized {
		return fmt.Errorf("%w: %w", errMayNot, err)
	}
	return err
}

// minimal has parameters for each type that can be decoded, whatever happens afterwards.
var minimal = map[activity.Type]string{
	activity.TypeSignTransaction: `{"signWith":"key-1","unsignedTransaction":"c0","type":"TRANSACTION_TYPE_ETHEREUM"}`,
	activity.TypeInitOTPAuth:     `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com"}`,
	activity.TypeInitOTPV2:       `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com","appName":"Example"}`,
	activity.TypeInitOTPV3:       `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com","appName":"Example"}`,
	activity.TypeVerifyOTP:       `{"otpId":"a","otpCode":"123456"}`,
	activity.TypeVerifyOTPV2:     `{"otpId":"a","encryptedOtpBundle":"{}"}`,
	activity.TypeSignRawPayload:  `{"signWith":"key-1","payload":"00","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_KECCAK256"}`,
	activity.TypeSignRawPayloads: `{"signWith":"key-1","payloads":["00"],"encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_KECCAK256"}`,
	activity.TypeApproveActivity: `{"fingerprint":"sha256:` + zeros + `"}`,
	activity.TypeRejectActivity:  `{"fingerprint":"sha256:` + zeros + `"}`,
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
