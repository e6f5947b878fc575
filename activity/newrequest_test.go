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

// intents has one intent of each type that Decode gives intents of, every
// member of it set.
var intents = []activity.Intent{
	activity.SignTransactionIntent{SignWith: "treasury <&>", UnsignedTransaction: "02ec01", Type: activity.TransactionTypeEthereum},
	activity.VerifyOTPIntent{OTPID: "id", OTPCode: "123456", PublicKey: "02ab", ExpirationSeconds: "60"},
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

// TestNewRequestWritesWhatDecodeReads: whole intents, and those with only what
// is required.
func TestNewRequestWritesWhatDecodeReads(t *testing.T) {
	at := time.UnixMilli(1763650000123)
	short := []activity.Intent{
		activity.VerifyOTPIntent{OTPID: "id", OTPCode: "1"},
		activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_SMS", Contact: "+15550100"},
	}
	for _, intent := range append(short, intents...) {
		for _, proofs := range []bool{false, true} {
			made, err := activity.NewRequest(activity.Envelope{OrganizationID: "org", Time: at, GenerateAppProofs: proofs}, intent)
			if err != nil {
				t.Fatalf("%T: %v", intent, err)
			}
			read, err := activity.Decode(made.Body)
			if err != nil {
				t.Fatalf("%s: %v", made.Body, err)
			}
			if !reflect.DeepEqual(read, made) || !reflect.DeepEqual(read.Intent, intent) {
				t.Errorf("%s: read as %+v, want %+v", made.Body, read.Intent, intent)
			}
			if !read.Time().Equal(at) || read.OrganizationID != "org" || read.GenerateAppProofs != proofs {
				t.Errorf("%s: read as %+v", made.Body, read)
			}
			if strings.Contains(string(made.Body), `:""`) || strings.Contains(string(made.Body), "null") {
				t.Errorf("%s: has members that are absent from the intent", made.Body)
			}
		}
	}
}

// TestNewRequestRefusesWhatDecodeWould, before anything is stamped or sent.
func TestNewRequestRefusesWhatDecodeWould(t *testing.T) {
	good := activity.SignTransactionIntent{SignWith: "a", UnsignedTransaction: "02", Type: activity.TransactionTypeEthereum}
	long, invalid := good, good
	long.SignWith = strings.Repeat("a", activity.MaxSignWith+1)
	invalid.SignWith = "\xff"
	at := time.UnixMilli(1763650000123)
	for name, tried := range map[string]struct {
		envelope activity.Envelope
		intent   activity.Intent
		field    string
	}{
		"no organization":       {activity.Envelope{Time: at}, good, "organizationId"},
		"no time":               {activity.Envelope{OrganizationID: "org"}, good, "timestampMs"},
		"organization not text": {activity.Envelope{OrganizationID: "\xff", Time: at}, good, "parameters"},
		"member too long":       {activity.Envelope{OrganizationID: "org", Time: at}, long, "signWith"},
		"not UTF-8":             {activity.Envelope{OrganizationID: "org", Time: at}, invalid, "parameters"},
	} {
		_, err := activity.NewRequest(tried.envelope, tried.intent)
		refused, ok := errors.AsType[*activity.Error](err)
		if !ok || refused.Reason != activity.ReasonRequestInvalid || refused.Field != tried.field {
			t.Errorf("%s: %+v, want a refusal of %s", name, err, tried.field)
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
