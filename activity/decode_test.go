package activity_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const signBody = `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"1763650000000","organizationId":"org","parameters":{"signWith":"0xab","unsignedTransaction":"02c0","type":"TRANSACTION_TYPE_ETHEREUM"}}`

func TestDecodeSignTransaction(t *testing.T) {
	request, err := activity.Decode([]byte(signBody))
	testenv.Must(t, err)
	want := activity.SignTransactionIntent{SignWith: "0xab", UnsignedTransaction: "02c0", Type: activity.TransactionTypeEthereum}
	if request.Intent != want {
		t.Errorf("intent %+v, want %+v", request.Intent, want)
	}
	if request.Type != activity.TypeSignTransaction || request.OrganizationID != "org" || request.TimestampMs != 1763650000000 || request.GenerateAppProofs {
		t.Errorf("request %+v", request)
	}
	if got := request.Time().UTC().Format("2006-01-02T15:04:05"); got != "2025-11-20T14:46:40" {
		t.Errorf("time %s", got)
	}
}

func TestDecodeOTPIntents(t *testing.T) {
	request, err := activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_INIT_OTP_AUTH_V3","timestampMs":"1","organizationId":"o","parameters":{
		"otpType":"OTP_TYPE_SMS","contact":"+15555550100","otpLength":6,"appName":"App","emailCustomization":{"logoUrl":"l","magicLinkTemplate":"m","templateVariables":"{}","templateId":"t"},
		"smsCustomization":{"template":"{{.OtpCode}}"},"userIdentifier":"u","sendFromEmailAddress":"a@b.c","alphanumeric":false,"sendFromEmailSenderName":"n","expirationSeconds":"300","replyToEmailAddress":"r@b.c"}}`))
	testenv.Must(t, err)
	no := false
	want := activity.InitOTPAuthIntent{
		OTPType: "OTP_TYPE_SMS", Contact: "+15555550100", OTPLength: 6, AppName: "App",
		EmailCustomization: activity.EmailCustomization{LogoURL: "l", MagicLinkTemplate: "m", TemplateVariables: "{}", TemplateID: "t"},
		SMSCustomization:   activity.SMSCustomization{Template: "{{.OtpCode}}"},
		UserIdentifier:     "u", SendFromEmailAddress: "a@b.c", Alphanumeric: &no, SendFromEmailSenderName: "n",
		ExpirationSeconds: "300", ReplyToEmailAddress: "r@b.c",
	}
	if !reflect.DeepEqual(request.Intent, want) {
		t.Errorf("intent %+v, want %+v", request.Intent, want)
	}
	request, err = activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_VERIFY_OTP","timestampMs":"1","organizationId":"o","parameters":{"otpId":"i","otpCode":"c","publicKey":"p","expirationSeconds":"60"}}`))
	testenv.Must(t, err)
	if want := (activity.VerifyOTPIntent{OTPID: "i", OTPCode: "c", PublicKey: "p", ExpirationSeconds: "60"}); request.Intent != want {
		t.Errorf("intent %+v, want %+v", request.Intent, want)
	}
}

func TestGenerateAppProofs(t *testing.T) {
	for change, want := range map[string]bool{
		`"parameters":{"generateAppProofs":true,`:                             true,
		`"generateAppProofs":true,"parameters":{`:                             true,
		`"generateAppProofs":false,"parameters":{"generateAppProofs":true,`:   true,
		`"generateAppProofs":null,"parameters":{"generateAppProofs":null,`:    false,
		`"generateAppProofs":false,"parameters":{"generateAppProofs": false,`: false,
	} {
		body := strings.Replace(signBody, `"parameters":{`, change, 1)
		request, err := activity.Decode([]byte(body))
		if err != nil || request.GenerateAppProofs != want {
			t.Errorf("%s: %v, want %v (%v)", change, request != nil && request.GenerateAppProofs, want, err)
		}
	}
}

// TestDecodeRefuses changes one thing in a valid body.
func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		field, message string
	}{
		{"another version", "_TRANSACTION_V2", "_TRANSACTION", "type", "the version served is ACTIVITY_TYPE_SIGN_TRANSACTION_V2"},
		{"a later version", "_TRANSACTION_V2", "_TRANSACTION_V3", "type", "the version served is ACTIVITY_TYPE_SIGN_TRANSACTION_V2"},
		{"verify_otp V3", "SIGN_TRANSACTION_V2", "VERIFY_OTP_V3", "type", "the versions served are ACTIVITY_TYPE_VERIFY_OTP and ACTIVITY_TYPE_VERIFY_OTP_V2"},
		{"init_otp", "SIGN_TRANSACTION_V2", "INIT_OTP", "type", "the versions served are ACTIVITY_TYPE_INIT_OTP_V2 and ACTIVITY_TYPE_INIT_OTP_V3"},
		{"unknown type", "SIGN_TRANSACTION_V2", "SIGN_NOTHING_V2", "type", "use ACTIVITY_TYPE_INIT_OTP_AUTH_V3, ACTIVITY_TYPE_SIGN_TRANSACTION_V2, ACTIVITY_TYPE_VERIFY_OTP"},
		{"organization twice in other case", `"organizationId":"org"`, `"organizationId":"A","ORGANIZATIONID":"B"`, "ORGANIZATIONID", "names are case-sensitive"},
		{"organization twice", `"organizationId":"org"`, `"organizationId":"A","organizationId":"B"`, "organizationId", "appears twice"},
		{"organization empty", `"org"`, `""`, "organizationId", "organizationId is empty"},
		{"organization too long", `"org"`, `"` + strings.Repeat("o", 129) + `"`, "organizationId", "129 bytes, at most 128"},
		{"organization null", `"org"`, `null`, "organizationId", "null: a value is required"},
		{"timestamp a number", `"1763650000000"`, `1763650000000`, "timestampMs", "expected a string, not a number"},
		{"timestamp signed", `"1763650000000"`, `"+176365000000"`, "timestampMs", "at most 13 decimal digits"},
		{"timestamp with leading zero", `"1763650000000"`, `"0176365000000"`, "timestampMs", "at most 13 decimal digits"},
		{"timestamp zero", `"1763650000000"`, `"0"`, "timestampMs", "at most 13 decimal digits"},
		{"timestamp empty", `"1763650000000"`, `""`, "timestampMs", "at most 13 decimal digits"},
		{"timestamp too long", `"1763650000000"`, `"17636500000000"`, "timestampMs", "14 bytes, at most 13"},
		{"unknown member", `"type":"ACT`, `"extra":{"deep":[[[]]]},"type":"ACT`, "extra", "unknown member"},
		{"parameter in other case", `"signWith"`, `"signwith":"x","signWith"`, "signwith", "names are case-sensitive, this one is signWith"},
		{"unknown parameter", `"signWith"`, `"hash":"x","signWith"`, "hash", "parameters: hash at byte 111: unknown member"},
		{"parameter twice", `"signWith"`, `"signWith":"x","signWith"`, "parameters.signWith", "appears twice"},
		{"parameter missing", `"signWith":"0xab",`, ``, "signWith", "missing"},
		{"parameter null", `"0xab"`, `null`, "signWith", "null: a value is required"},
		{"parameter a number", `"0xab"`, `7`, "signWith", "expected a string, not a number"},
		{"parameters a string", `{"signWith":"0xab","unsignedTransaction":"02c0","type":"TRANSACTION_TYPE_ETHEREUM"}`, `"{}"`, "parameters", "expected an object, not a string"},
		{"proofs a string", `"parameters":{`, `"parameters":{"generateAppProofs":"true",`, "generateAppProofs", "expected a boolean, not a string"},
		{"trailing data", `"}}`, `"}}{}`, "", "2 bytes follow the object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(signBody, test.old, test.new, 1)
			if body == signBody {
				t.Fatal("the test changes nothing")
			}
			_, err := activity.Decode([]byte(body))
			var refused *activity.Error
			if !errors.As(err, &refused) {
				t.Fatalf("error %v, want an *activity.Error", err)
			}
			if refused.Reason != activity.ReasonRequestInvalid || refused.Code != 3 || refused.Field != test.field || !strings.Contains(refused.Message, test.message) {
				t.Errorf("%s %d, field %q: %s\nwant field %q: %s", refused.Reason, refused.Code, refused.Field, refused.Message, test.field, test.message)
			}
		})
	}
}

func TestDecodeNamesServedVersions(t *testing.T) {
	_, err := activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_VERIFY_OTP_V3","timestampMs":"1","organizationId":"o","parameters":{"otpId":"i","encryptedOtpBundle":"b"}}`))
	if err == nil || !strings.Contains(err.Error(), "the versions served are ACTIVITY_TYPE_VERIFY_OTP and ACTIVITY_TYPE_VERIFY_OTP_V2") {
		t.Errorf("error %v", err)
	}
}

// TestMutations changes every byte of the vectors' bodies: a body that is still accepted
// means the same to encoding/json, and body and parameters are kept unchanged.
func TestMutations(t *testing.T) {
	for name, vector := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			body := []byte(vector.Request.Body)
			for i := range body {
				for _, flip := range []byte{0x01, 0x02, 0x20, 0x80} {
					changed := bytes.Clone(body)
					changed[i] ^= flip
					checkAccepted(t, changed)
				}
				checkAccepted(t, append(bytes.Clone(body[:i]), body[i+1:]...))
				checkAccepted(t, append(append(bytes.Clone(body[:i]), ' '), body[i:]...))
				if _, err := activity.Decode(body[:i]); err == nil {
					t.Errorf("cut to %d bytes and accepted", i)
				}
			}
		})
	}
}

// checkAccepted compares a body that Decode accepts with what encoding/json reads.
func checkAccepted(t *testing.T, body []byte) {
	t.Helper()
	request, err := activity.Decode(bytes.Clone(body))
	if err != nil {
		return
	}
	var other struct {
		Type           string
		TimestampMs    json.Number
		OrganizationID string
		Parameters     json.RawMessage
	}
	if err := json.Unmarshal(body, &other); err != nil {
		t.Fatalf("accepted, though encoding/json says %v: %s", err, body)
	}
	if string(request.Type) != other.Type || request.OrganizationID != other.OrganizationID || !bytes.Equal(request.Parameters(), other.Parameters) || !bytes.Equal(request.Body, body) {
		t.Fatalf("read differently by encoding/json: %s", body)
	}
	if sign, ok := request.Intent.(activity.SignTransactionIntent); ok {
		var theirs activity.SignTransactionIntent
		if err := json.Unmarshal(other.Parameters, &theirs); err != nil || theirs != sign {
			t.Fatalf("parameters read differently: %s", body)
		}
	}
}

func TestDecodeQueries(t *testing.T) {
	query, err := activity.DecodeGetActivity([]byte(`{"organizationId":"o","activityId":"a"}`))
	if err != nil || query != (activity.GetActivityQuery{Query: activity.Query{OrganizationID: "o"}, ActivityID: "a"}) {
		t.Errorf("%+v, %v", query, err)
	}
	who, err := activity.DecodeQuery([]byte(`{"organizationId":"o"}`))
	if err != nil || who.OrganizationID != "o" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := activity.DecodeGetActivity([]byte(`{"organizationId":"","activityId":"a"}`)); err == nil || !strings.Contains(err.Error(), "organizationId is empty") {
		t.Errorf("get_activity of no organization: %v", err)
	}
	for _, body := range []string{`{"organizationId":""}`, `{"organizationId":"o","activityId":"a","x":1}`, `{"ORGANIZATIONID":"o"}`, ``} {
		if _, err := activity.DecodeGetActivity([]byte(body)); err == nil {
			t.Errorf("get_activity accepted %q", body)
		}
		if _, err := activity.DecodeQuery([]byte(body)); err == nil {
			t.Errorf("whoami accepted %q", body)
		}
	}
}

func TestDecodeSignMessageIntent(t *testing.T) {
	const parameters = `{"signWith":"a","payload":"b","encoding":"c","hashFunction":"d"}`
	intent, err := activity.DecodeSignMessageIntent([]byte(parameters))
	if err != nil || intent != (activity.SignMessageIntent{SignWith: "a", Payload: "b", Encoding: "c", HashFunction: "d"}) {
		t.Errorf("%+v, %v", intent, err)
	}
	if _, err := activity.DecodeSignMessageIntent([]byte(strings.Replace(parameters, "}", `,"generateAppProofs":true}`, 1))); err == nil {
		t.Error("generateAppProofs was accepted without an envelope")
	}
}
