package httpapi_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/wallettest"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/stamp"
)

// schema is the part of an OpenAPI schema that the description uses.
type schema struct {
	OneOf                []*schema
	Ref                  string `json:"$ref"`
	Type                 string
	Nullable             bool
	Required             []string
	Properties           map[string]*schema
	AdditionalProperties *bool
	Items                *schema
	Enum                 []any
	Pattern              string
	Description          string
}

type content struct {
	Content map[string]struct{ Schema *schema }
}

type description struct {
	Paths map[string]map[string]struct {
		RequestBody content
		Responses   map[string]struct {
			content
			Ref string `json:"$ref"`
		}
	}
	Components struct{ Schemas map[string]*schema }
}

func openAPI(t *testing.T) *description {
	t.Helper()
	var read description
	testenv.JSON(t, httpapi.OpenAPI, &read)
	return &read
}

// check returns how a value violates the schema, or "".
func (d *description) check(s *schema, value any, at string) string {
	if s.Ref != "" {
		named := d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		if named == nil {
			return at + ": no schema " + s.Ref
		}
		return d.check(named, value, at)
	}
	if len(s.OneOf) > 0 {
		return d.checkOneOf(s, value, at)
	}
	if value == nil && s.Nullable || s.Type == "" {
		return ""
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(one any) bool { return reflect.DeepEqual(one, value) }) {
		return fmt.Sprintf("%s: %v is none of %v", at, value, s.Enum)
	}
	switch value := value.(type) {
	case string:
		if s.Type != "string" || s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(value) {
			return fmt.Sprintf("%s: %q, want %s %s", at, value, s.Type, s.Pattern)
		}
		return ""
	case map[string]any:
		return d.checkObject(s, value, at)
	case []any:
		for i, element := range value {
			if s.Type != "array" {
				return at + ": an array"
			}
			if problem := d.check(s.Items, element, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
				return problem
			}
		}
		return ""
	}
	if kind := fmt.Sprintf("%T", value); kind != map[string]string{"boolean": "bool", "integer": "float64"}[s.Type] {
		return fmt.Sprintf("%s: %s, want %s", at, kind, s.Type)
	}
	return ""
}

// checkOneOf requires that exactly one of the schemas describes a value.
func (d *description) checkOneOf(s *schema, value any, at string) string {
	var problems []string
	for _, one := range s.OneOf {
		if problem := d.check(one, value, at); problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) != len(s.OneOf)-1 {
		return fmt.Sprintf("%s: described %d times: %v", at, len(s.OneOf)-len(problems), problems)
	}
	return ""
}

func (d *description) checkObject(s *schema, value map[string]any, at string) string {
	if s.Type != "object" {
		return at + ": an object, want " + s.Type
	}
	for _, name := range s.Required {
		if _, ok := value[name]; !ok {
			return at + "." + name + ": missing"
		}
	}
	for name, member := range value {
		property := s.Properties[name]
		if property == nil {
			return at + "." + name + ": not described"
		}
		if problem := d.check(property, member, at+"."+name); problem != "" {
			return problem
		}
	}
	return ""
}

// checkJSON checks a text against a schema.
func (d *description) checkJSON(t *testing.T, what string, s *schema, text []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v: %s", what, err, text)
	}
	if problem := d.check(s, value, what); problem != "" {
		t.Errorf("%s\n%s", problem, text)
	}
}

// exchanges returns valid and invalid requests for every path.
func exchanges(t *testing.T, f *enginetest.Fixture, outbox *enginetest.Outbox, voter *enginetest.APIKey) map[string][]countersign.SignedBody {
	t.Helper()
	envelope := func(kind activity.Type, parameters string) string {
		return fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{%s}}`, kind, f.Clock.Now().UnixMilli(), enginetest.Organization, parameters)
	}
	record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(envelope(activity.TypeInitOTPAuth, `"otpType":"OTP_TYPE_SMS","contact":"+15555550100","alphanumeric":false`)))
	testenv.Must(t, err)
	id := record.Result.(activity.InitOTPAuthResult).OTPID
	targeted, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(envelope(activity.TypeInitOTPV3, `"otpType":"OTP_TYPE_SMS","contact":"+15555550101","alphanumeric":false`)))
	testenv.Must(t, err)
	encrypted := targeted.Result.(activity.InitOTPV3Result)
	bundle, err := otp.Encrypt(outbox.Code(t, encrypted.OTPID), "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", encrypted.TargetBundle, &f.ProofKey.PublicKey, enginetest.Organization, encrypted.OTPID)
	testenv.Must(t, err)
	enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(envelope(activity.TypeHalt, `"userId":"user-2"`)))
	asking := func(more string) string { return fmt.Sprintf(`{"organizationId":%q%s}`, enginetest.Organization, more) }
	all := map[string][]countersign.SignedBody{}
	for path, bodies := range map[string][]string{
		signPath: {
			f.Body(enginetest.Request{SignWith: votedKey}),
			f.Body(enginetest.Request{}), f.Body(enginetest.Request{Proofs: true}),
			f.Body(enginetest.Request{Unsigned: enginetest.Hazardous}), f.Body(enginetest.Request{SignWith: "0x0000000000000000000000000000000000000001"}), `{}`,
		},
		"/public/v1/submit/init_otp_auth": {
			envelope(activity.TypeInitOTPAuth, `"otpType":"OTP_TYPE_EMAIL","contact":"a@example.com","otpLength":null,"emailCustomization":{"logoUrl":"https://a.example.com/l.png"},"expirationSeconds":"300"`),
			envelope(activity.TypeInitOTPAuth, `"otpType":"OTP_TYPE_EMAIL","contact":"a"`),
		},
		"/public/v1/submit/init_otp": {
			envelope(activity.TypeInitOTPV2, `"otpType":"OTP_TYPE_EMAIL","contact":"b@example.com","appName":"Example"`),
			envelope(activity.TypeInitOTPV3, `"otpType":"OTP_TYPE_EMAIL","contact":"c@example.com","appName":"Example"`),
			envelope(activity.TypeInitOTPAuth, `"otpType":"OTP_TYPE_EMAIL","contact":"d@example.com"`),
		},
		"/public/v1/submit/verify_otp": {
			envelope(activity.TypeVerifyOTPV2, fmt.Sprintf(`"otpId":%q,"encryptedOtpBundle":%q`, encrypted.OTPID, bundle)),
			envelope(activity.TypeVerifyOTP, fmt.Sprintf(`"otpId":%q,"otpCode":%q`, id, outbox.Code(t, id))),
			envelope(activity.TypeVerifyOTP, `"otpId":"a","otpCode":"b"`),
		},
		"/public/v1/submit/sign_raw_payload": {
			envelope(activity.TypeSignRawPayload, rawParameters(`"payload":"0x19457468657265756d205369676e6564204d6573736167653a0a3233417070726f766520506f7274616c73207369676e2d696e"`, "KECCAK256")),
			envelope(activity.TypeSignRawPayload, rawParameters(`"payload":"`+strings.Repeat("ab", 32)+`"`, "NO_OP")),
		},
		"/public/v1/submit/sign_raw_payloads": {
			envelope(activity.TypeSignRawPayloads, rawParameters(`"payloads":["0x19457468657265756d205369676e6564204d6573736167653a0a3233417070726f766520506f7274616c73207369676e2d696e"]`, "KECCAK256")),
			envelope(activity.TypeSignRawPayloads, rawParameters(`"payloads":[]`, "KECCAK256")),
		},
		"/public/v1/submit/halt": {
			envelope(activity.TypeHalt, `"userId":"user-2"`), envelope(activity.TypeHalt, `"privateKeyId":"key-9"`),
			envelope(activity.TypeHalt, `"userId":"user-2","answers":true`),
		},
		"/public/v1/submit/resume": {envelope(activity.TypeResume, ""), envelope(activity.TypeResume, `"userId":"user-2"`)},
		"/public/v1/submit/countersign_sign_transactions": {
			envelope(activity.TypeSignTransactions, fmt.Sprintf(`"type":"TRANSACTION_TYPE_ETHEREUM","transactions":[{"signWith":%q,"unsignedTransaction":%q}]`, enginetest.Address, enginetest.Unsigned)),
			envelope(activity.TypeSignTransactions, `"type":"TRANSACTION_TYPE_ETHEREUM","transactions":[]`),
		},
		"/public/v1/query/get_activity": {
			fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, record.ID),
			fmt.Sprintf(`{"organizationId":%q,"activityId":"x"}`, enginetest.Organization),
		},
		"/public/v1/query/get_organization":  {asking("")},
		"/public/v1/query/get_user":          {asking(`,"userId":"user-1"`), asking(`,"userId":"user-2"`)},
		"/public/v1/query/list_users":        {asking("")},
		"/public/v1/query/get_private_key":   {asking(`,"privateKeyId":"key-1"`), asking("")},
		"/public/v1/query/list_private_keys": {asking("")},
		"/public/v1/query/get_wallet":        {asking(`,"walletId":"wallet-1"`)},
		"/public/v1/query/list_wallets":      {asking("")},
		"/public/v1/query/get_wallet_account": {
			asking(`,"walletId":"wallet-1","path":"m/44'/501'/0'/0'"`), asking(`,"walletId":"wallet-1","address":null,"path":null`),
		},
		"/public/v1/query/list_wallet_accounts": {
			asking(""), asking(`,"walletId":"wallet-1","includeWalletDetails":true,"paginationOptions":{"limit":"1"}`), asking(`,"paginationOptions":{"limit":"0"}`),
		},
		"/public/v1/query/whoami": {fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization), `{"organizationId":""}`},
		"/public/v1/query/list_activities": {
			fmt.Sprintf(`{"organizationId":%q,"filterByStatus":["ACTIVITY_STATUS_CONSENSUS_NEEDED"],"filterByType":null,"paginationOptions":{"limit":"5","before":null}}`, enginetest.Organization),
			fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":"101"}}`, enginetest.Organization),
		},
		"/public/v1/query/list_policies": {fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization), fmt.Sprintf(`{"organizationId":%q,"timestampMs":"%d"}`, enginetest.Organization, f.Clock.Now().UnixMilli()), `{}`},
	} {
		for _, body := range bodies {
			all[path] = append(all[path], f.APIKey.Sign(body))
		}
	}
	for path, kind := range map[string]activity.Type{
		"/public/v1/submit/approve_activity": activity.TypeApproveActivity,
		"/public/v1/submit/reject_activity":  activity.TypeRejectActivity,
	} {
		f.Clock.Advance(time.Second) // a transaction of its own
		waiting, err := f.Submit(t, enginetest.Request{SignWith: votedKey})
		if err != nil || waiting.Status != activity.StatusConsensusNeeded {
			t.Fatalf("%+v, %v", waiting, err)
		}
		body := envelope(kind, fmt.Sprintf(`"fingerprint":%q,"shown":%q`, waiting.Request.Fingerprint, waiting.Viewer.Review.Shown))
		all[path] = []countersign.SignedBody{voter.Sign(body), voter.Sign(envelope(kind, `"fingerprint":"x"`)), f.Other.Sign(body)}
	}
	f.Clock.Advance(time.Second)
	if _, err := f.Submit(t, enginetest.Request{SignWith: votedKey}); err != nil { // for the list
		t.Fatal(err)
	}
	return all
}

// votedKey is the key whose transactions need another user's vote.
const votedKey = "key-1"

// oneVote is the policy that requires it.
type oneVote struct{}

func (oneVote) Authorize(context.Context, access.Authorization) error { return nil }

func (oneVote) Decide(_ context.Context, asked access.Authorization) (access.Decision, error) {
	if intent, ok := asked.Intent.(activity.SignTransactionIntent); !ok || intent.SignWith != votedKey {
		return access.Decision{}, nil
	}
	return access.Decision{
		Digest: [32]byte{1}, Rules: []string{"large"},
		Approvals: []access.Group{{Rule: "large", Count: 1, Tag: "finance", NotSubmitter: true}},
	}, nil
}

// PoliciesOf implements access.PolicyLister.
func (oneVote) PoliciesOf(*access.Organization, *access.Member) []activity.PolicyRule {
	return []activity.PolicyRule{{ID: "1", Name: "large", Allow: true, Condition: "true", Consensus: "1 of the tag finance", Notes: "transfer"}}
}

// withVoter configures the policy oneVote, and a user who may vote.
func withVoter(t *testing.T, voter *enginetest.APIKey) func(*countersign.Config) {
	t.Helper()
	return func(config *countersign.Config) {
		config.Policy = oneVote{}
		credential := voter.Config()
		credential.Activities = []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity}
		voters, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: []access.UserConfig{
			{ID: "ann", Name: "ann", Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{credential}},
		}}})
		testenv.Must(t, err)
		config.Directory = both{config.Directory, voters}
	}
}

// both is a directory with the members of a second one.
type both struct {
	access.Directory
	other access.Directory
}

func (b both) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	member, err := b.Directory.Member(ctx, organizationID, id)
	if errors.Is(err, access.ErrCredentialNotFound) {
		return b.other.Member(ctx, organizationID, id)
	}
	return member, err
}

// rawParameters returns the parameters of a message in hex.
func rawParameters(payload, hash string) string {
	return fmt.Sprintf(`"signWith":%q,%s,"encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_%s"`, enginetest.Address, payload, hash)
}

// TestOpenAPI checks the description against real requests and answers.
func TestOpenAPI(t *testing.T) {
	described := openAPI(t)
	outbox := new(enginetest.Outbox)
	voter := enginetest.NewAPIKey(t)
	f := enginetest.New(t, enginetest.WithLog(1), enginetest.WithOTP(t, outbox), withVoter(t, voter), wallettest.With(t, map[string]string{"key-2": "m/44'/501'/0'/0'"}))
	server := serve(t, f, httpapi.Options{})
	all := exchanges(t, f, outbox, voter)
	if got, want := slices.Sorted(maps.Keys(described.Paths)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Fatalf("described are %v, served are %v", got, want)
	}
	refusal := described.Components.Schemas["Error"]
	for path, requests := range all {
		operation := described.Paths[path]["post"]
		succeeded := false
		for _, sent := range requests {
			response, answer := post(t, server.URL+path, bytes.NewReader(sent.Body), sent.Stamps...)
			if response.StatusCode == http.StatusOK {
				succeeded = true
				described.checkJSON(t, path+" request", operation.RequestBody.Content["application/json"].Schema, sent.Body)
				described.checkJSON(t, path, operation.Responses["200"].Content["application/json"].Schema, answer)
				continue
			}
			described.checkJSON(t, path+" refusal", refusal, answer)
			if operation.Responses[fmt.Sprint(response.StatusCode)].Ref == "" {
				t.Errorf("%s: status %d is not described", path, response.StatusCode)
			}
		}
		if !succeeded {
			t.Errorf("%s: nothing was answered with success", path)
		}
	}
}

// TestOpenAPIParameters checks that the described parameters are exactly the accepted ones.
func TestOpenAPIParameters(t *testing.T) {
	described := openAPI(t)
	texts := map[string]string{"fingerprint": "sha256:" + strings.Repeat("0a", 32), "shown": strings.Repeat("0a", 32)}
	for kind, name := range map[activity.Type]string{
		activity.TypeApproveActivity: "VoteIntent", activity.TypeRejectActivity: "VoteIntent",
		activity.TypeSignTransaction: "SignTransactionIntent", activity.TypeInitOTPAuth: "InitOtpAuthIntent", activity.TypeVerifyOTP: "VerifyOtpIntent",
		activity.TypeInitOTPV2: "InitOtpAuthIntent", activity.TypeInitOTPV3: "InitOtpAuthIntent", activity.TypeVerifyOTPV2: "VerifyOtpV2Intent",
		activity.TypeHalt: "HaltIntent", activity.TypeResume: "ResumeIntent",
		activity.TypeSignRawPayload: "SignRawPayloadIntent", activity.TypeSignRawPayloads: "SignRawPayloadsIntent",
		activity.TypeSignTransactions: "SignTransactionsIntent",
	} {
		intent := described.Components.Schemas[name]
		parameters := map[string]any{}
		for property, s := range intent.Properties {
			parameters[property] = map[string]any{"string": cmp.Or(texts[property], "x"), "boolean": true, "integer": 1, "object": map[string]any{}, "array": []any{}}[s.Type]
		}
		if kind.Halts() { // of one of them
			delete(parameters, "privateKeyId")
			delete(parameters, "policy")
		}
		if _, err := activity.Decode(bodyOf(t, kind, parameters)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, required := range intent.Required {
			less := maps.Clone(parameters)
			delete(less, required)
			if _, err := activity.Decode(bodyOf(t, kind, less)); err == nil {
				t.Errorf("%s: taken without %s", name, required)
			}
		}
		for property, s := range intent.Properties {
			if slices.Contains(intent.Required, property) == s.Nullable {
				t.Errorf("%s.%s: what is required cannot be null, what is not can", name, property)
			}
		}
	}
}

func bodyOf(t *testing.T, kind activity.Type, parameters map[string]any) []byte {
	t.Helper()
	body := testenv.Encode(t, map[string]any{"type": kind, "timestampMs": "1", "organizationId": "o", "parameters": parameters})
	return body
}
