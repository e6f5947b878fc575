package activity_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// intents are intents with every member set.
var intents = []activity.Intent{
	activity.SignTransactionIntent{SignWith: "treasury <&>", UnsignedTransaction: "02ec01", Type: activity.TransactionTypeEthereum},
	activity.VerifyOTPIntent{OTPID: "id", OTPCode: "123456", PublicKey: "02ab", ExpirationSeconds: "60"},
	activity.VerifyOTPV2Intent{OTPID: "id", EncryptedBundle: "{}", ExpirationSeconds: "60"},
	activity.InitOTPV2Intent{OTPType: "OTP_TYPE_SMS", Contact: "+15550100", AppName: "a"},
	activity.InitOTPV3Intent{OTPType: "OTP_TYPE_SMS", Contact: "+15550100", AppName: "a"},
	activity.InitOTPAuthIntent{
		OTPType: "OTP_TYPE_EMAIL", Contact: "ada@example.com", OTPLength: 8, AppName: "Größe \"&\" \u2028",
		EmailCustomization: activity.EmailCustomization{
			LogoURL: "https://example.com/logo.png", MagicLinkTemplate: "https://example.com/?code=%s&x=1",
			TemplateVariables: `{"name":"Ada"}`, TemplateID: "welcome",
		},
		SMSCustomization: activity.SMSCustomization{Template: "{{.OtpCode}}"}, UserIdentifier: "u",
		SendFromEmailAddress: "no-reply@example.com", Alphanumeric: new(bool), SendFromEmailSenderName: "Example",
		ExpirationSeconds: "300", ReplyToEmailAddress: "help@example.com",
	},
}

// TestNewRequest: requests round-trip, with all members of the intent and with only the
// required ones.
func TestNewRequest(t *testing.T) {
	now := time.UnixMilli(1763650000123)
	short := []activity.Intent{
		activity.VerifyOTPIntent{OTPID: "id", OTPCode: "1"},
		activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_SMS", Contact: "+15550100"},
	}
	for _, intent := range append(short, intents...) {
		for _, proofs := range []bool{false, true} {
			request, err := activity.NewRequest(activity.Envelope{OrganizationID: "org", Time: now, GenerateAppProofs: proofs}, intent)
			if err != nil {
				t.Fatalf("%T: %v", intent, err)
			}
			read, err := activity.Decode(request.Body)
			if err != nil {
				t.Fatalf("%s: %v", request.Body, err)
			}
			if !reflect.DeepEqual(read, request) || !reflect.DeepEqual(read.Intent, intent) {
				t.Errorf("%s: read as %+v, want %+v", request.Body, read.Intent, intent)
			}
			if !read.Time().Equal(now) || read.OrganizationID != "org" || read.GenerateAppProofs != proofs {
				t.Errorf("%s: read as %+v", request.Body, read)
			}
			if strings.Contains(string(request.Body), `:""`) || strings.Contains(string(request.Body), "null") {
				t.Errorf("%s: has members that are absent from the intent", request.Body)
			}
		}
	}
}

// TestNewRequestRefuses: a request that a server would refuse is refused before it is
// stamped or sent.
func TestNewRequestRefuses(t *testing.T) {
	valid := activity.SignTransactionIntent{SignWith: "a", UnsignedTransaction: "02", Type: activity.TransactionTypeEthereum}
	long, invalid := valid, valid
	long.SignWith = strings.Repeat("a", activity.MaxSignWith+1)
	invalid.SignWith = "\xff"
	now := time.UnixMilli(1763650000123)
	for name, test := range map[string]struct {
		envelope activity.Envelope
		intent   activity.Intent
		field    string
	}{
		"no organization":       {activity.Envelope{Time: now}, valid, "organizationId"},
		"no time":               {activity.Envelope{OrganizationID: "org"}, valid, "timestampMs"},
		"no intent":             {activity.Envelope{OrganizationID: "org", Time: now}, nil, "parameters"},
		"a pointer":             {activity.Envelope{OrganizationID: "org", Time: now}, &valid, "parameters"},
		"organization not text": {activity.Envelope{OrganizationID: "\xff", Time: now}, valid, "parameters"},
		"member too long":       {activity.Envelope{OrganizationID: "org", Time: now}, long, "signWith"},
		"not UTF-8":             {activity.Envelope{OrganizationID: "org", Time: now}, invalid, "parameters"},
	} {
		_, err := activity.NewRequest(test.envelope, test.intent)
		refused, ok := errors.AsType[*activity.Error](err)
		if !ok || refused.Reason != activity.ReasonRequestInvalid || refused.Field != test.field {
			t.Errorf("%s: %+v, want a refusal of %s", name, err, test.field)
		}
	}
}

// A request is written once: to send it again, send its Body again.
func ExampleNewRequest() {
	request, err := activity.NewRequest(
		activity.Envelope{OrganizationID: "my-organization", Time: time.UnixMilli(1763650000000)},
		activity.SignTransactionIntent{
			SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
			UnsignedTransaction: "02ec01", // the bytes of your transaction
			Type:                activity.TransactionTypeEthereum,
		})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.95s…\n", request.Body)
	// Output: {"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"1763650000000","organizationId":"my-…
}
