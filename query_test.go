package countersign_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/stamp"
)

func TestGetActivity(t *testing.T) {
	f := enginetest.New(t)
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{})))
	body := engines.GetActivity(enginetest.Organization, record.ID)
	found, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(body))
	testenv.Must(t, err)
	if got, want := found.AppendAnswer(nil), record.AppendAnswer(nil); !bytes.Equal(got, want) {
		t.Errorf("answered\n%s\nand when it was submitted\n%s", got, want)
	}
	_, err = f.Engine.GetActivity(t.Context(), f.OTPOnly.Sign(body))
	hidden := enginetest.Refusal(t, err, activity.ReasonNotFound, record.ID)
	_, err = f.Engine.GetActivity(t.Context(), f.OTPOnly.Sign(engines.GetActivity(enginetest.Organization, "nothing")))
	absent := enginetest.Refusal(t, err, activity.ReasonNotFound, "nothing")
	if hidden.Code != absent.Code || hidden.Field != absent.Field {
		t.Error("an activity that is hidden is told from one that is not there")
	}
	_, err = f.Engine.GetActivity(t.Context(), f.Other.Sign(engines.GetActivity(enginetest.OtherOrganization, record.ID)))
	enginetest.Refusal(t, err, activity.ReasonNotFound, "")
	_, err = f.Engine.GetActivity(t.Context(), f.Other.Sign(body))
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	_, err = f.Engine.GetActivity(t.Context(), f.APIKey.Sign(`{"organizationId":"x"}`))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "activityId")
}

func TestWhoAmI(t *testing.T) {
	f := enginetest.New(t)
	body := fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)
	got, err := f.Engine.WhoAmI(t.Context(), f.APIKey.Sign(body))
	want := activity.WhoAmI{OrganizationID: enginetest.Organization, OrganizationName: "Example", UserID: "user-1", Username: "ci"}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = f.Engine.WhoAmI(t.Context(), f.Other.Sign(body))
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	sent := f.APIKey.Sign(body)
	sent.Stamps = nil
	_, err = f.Engine.WhoAmI(t.Context(), sent)
	enginetest.Refusal(t, err, activity.ReasonSignatureMissing, "")
}

func TestReady(t *testing.T) {
	f := enginetest.New(t)
	testenv.Must(t, f.Engine.Ready(t.Context()))
	testenv.Must(t, f.Engine.Close())
	enginetest.Refusal(t, f.Engine.Ready(t.Context()), activity.ReasonUnavailable, "")
}

// TestTypesThatMustBeNamed checks that only credentials whose list names them may submit
// votes and raw payloads. A credential without a list may submit all other types, one
// with a list nothing else. The test walks the table of operations, so that each new
// type must be classified.
func TestTypesThatMustBeNamed(t *testing.T) {
	named := []activity.Type{activity.TypeSignRawPayload, activity.TypeSignRawPayloads, activity.TypeSignTransactions, activity.TypeApproveActivity, activity.TypeRejectActivity,
		activity.TypeHalt, activity.TypeResume}
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
	resumes := enginetest.NewAPIKey(t).Config()
	resumes.Activities = []activity.Type{activity.TypeResume}
	users := []access.UserConfig{
		{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{config}}, {ID: "user-2", Name: "admin", APIKeys: []access.APIKeyConfig{resumes}},
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: users,
		Resume: access.ResumeConfig{Approvals: 1}}})
	testenv.Must(t, err)
	f := enginetest.New(t, enginetest.WithLog(1), enginetest.WithOTP(t, new(enginetest.Outbox)), func(config *countersign.Config) { config.Directory = directory })
	_, err = f.Engine.Submit(t.Context(), key.Sign(fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":%s}`,
		kind, f.Clock.Now().UnixMilli(), enginetest.Organization, minimal[kind])))
	if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonNotAuthorized {
		return fmt.Errorf("%w: %w", errMayNot, err)
	}
	return err
}

// minimal has parameters for each type that can be decoded, whatever happens afterwards.
var minimal = map[activity.Type]string{
	activity.TypeSignTransaction:  `{"signWith":"key-1","unsignedTransaction":"c0","type":"TRANSACTION_TYPE_ETHEREUM"}`,
	activity.TypeInitOTPAuth:      `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com"}`,
	activity.TypeInitOTPV2:        `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com","appName":"Example"}`,
	activity.TypeInitOTPV3:        `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com","appName":"Example"}`,
	activity.TypeVerifyOTP:        `{"otpId":"a","otpCode":"123456"}`,
	activity.TypeVerifyOTPV2:      `{"otpId":"a","encryptedOtpBundle":"{}"}`,
	activity.TypeSignRawPayload:   `{"signWith":"key-1","payload":"00","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_KECCAK256"}`,
	activity.TypeSignRawPayloads:  `{"signWith":"key-1","payloads":["00"],"encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_KECCAK256"}`,
	activity.TypeSignTransactions: `{"type":"TRANSACTION_TYPE_ETHEREUM","transactions":[]}`,
	activity.TypeApproveActivity:  `{"fingerprint":"sha256:` + zeros + `"}`,
	activity.TypeRejectActivity:   `{"fingerprint":"sha256:` + zeros + `"}`,
	activity.TypeHalt:             `{"userId":"user-1"}`,
	activity.TypeResume:           `{}`,
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// countingDirectory counts the queries to a directory. Its organizations allow a hazard.
type countingDirectory struct {
	access.Directory
	organizations, members atomic.Int64
}

func (d *countingDirectory) Organization(ctx context.Context, id string) (*access.Organization, error) {
	d.organizations.Add(1)
	organization, err := d.Directory.Organization(ctx, id)
	if err != nil {
		return nil, err
	}
	allowing := *organization
	allowing.AllowHazards = []string{"ethereum/no-chain-id"}
	return &allowing, nil
}

func (d *countingDirectory) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	d.members.Add(1)
	return d.Directory.Member(ctx, organizationID, id)
}

// TestDirectoryQueries checks that each request looks up the organization and the
// credential once, also if the organization allows its hazard. An unknown sender causes
// no fewer queries, since the time would reveal which organizations and keys exist.
func TestDirectoryQueries(t *testing.T) {
	directory := new(countingDirectory)
	f := enginetest.New(t, func(c *countersign.Config) {
		directory.Directory, c.Directory = c.Directory, directory
	})
	stranger := enginetest.NewAPIKey(t)
	body := f.Body(enginetest.Request{})
	for name, test := range map[string]struct {
		sent   countersign.SignedBody
		reason activity.Reason // empty: signed
	}{
		"signed":               {f.APIKey.Sign(body), ""},
		"a hazard":             {f.APIKey.Sign(f.Body(enginetest.Request{Unsigned: enginetest.Hazardous})), ""},
		"unknown key":          {stranger.Sign(body), activity.ReasonSignatureInvalid},
		"wrong stamp":          {countersign.SignedBody{Body: []byte(body), Stamps: []stamp.Header{f.APIKey.Header([]byte("another body"))}}, activity.ReasonSignatureInvalid},
		"unknown organization": {f.APIKey.Sign(f.Body(enginetest.Request{Organization: "10000000-2000-4000-8000-300000000000"})), activity.ReasonSignatureInvalid},
	} {
		directory.organizations.Store(0)
		directory.members.Store(0)
		_, err := f.Engine.Submit(t.Context(), test.sent)
		if test.reason == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if test.reason != "" {
			enginetest.Refusal(t, err, test.reason, "")
		}
		if directory.organizations.Load() != 1 || directory.members.Load() != 1 {
			t.Errorf("%s: %d queries for the organization, %d for the credential", name, directory.organizations.Load(), directory.members.Load())
		}
	}
	_, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, ethereumIntent(enginetest.Address, enginetest.Hazardous))
	if err != nil {
		t.Errorf("the organization's hazard, without a request: %v", err)
	}
}

// TestDirectoryQueriesOfVote checks that a vote looks up the organization once, although
// the activity is judged several times.
func TestDirectoryQueriesOfVote(t *testing.T) {
	directory := new(countingDirectory)
	b := ballot.New(t, func(c *countersign.Config) {
		directory.Directory, c.Directory = c.Directory, directory
	})
	waiting := b.Waiting()
	for _, voter := range []*enginetest.APIKey{b.Ann, b.Ben} {
		directory.organizations.Store(0)
		b.Approve(voter, waiting)
		if queries := directory.organizations.Load(); queries != 1 {
			t.Errorf("%d queries for the organization", queries)
		}
	}
}
