package countersign_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/stamp"
)

func signedOf(t *testing.T, record *activity.Record) string {
	t.Helper()
	result, ok := record.Result.(activity.SignTransactionResult)
	if !ok {
		t.Fatalf("result %T", record.Result)
	}
	return result.SignedTransaction
}

func TestSubmit(t *testing.T) {
	f := enginetest.New(t)
	body := f.Body(enginetest.Request{})
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
	if got := signedOf(t, record); got != enginetest.Signed {
		t.Errorf("signed %s\nwant   %s", got, enginetest.Signed)
	}
	if string(record.Request.Body) != body || record.Submitter().UserName != "ci" || record.Submitter().PublicKey != f.APIKey.PublicKey || len(record.AppProofs) != 0 {
		t.Errorf("record %+v", record)
	}
}

// TestRepeat checks that there is one activity, one signature, and equal answers,
// however often, by whichever user and to whichever node a body is sent.
func TestRepeat(t *testing.T) {
	alone := enginetest.New(t)
	shared, second := twoNodes(t)
	for name, test := range map[string]struct {
		f     *enginetest.Fixture
		nodes []*countersign.Engine
		at    time.Time
	}{
		"one node":  {alone, []*countersign.Engine{alone.Engine}, alone.Clock.Now()},
		"two nodes": {shared, []*countersign.Engine{shared.Engine, second}, time.Now()},
	} {
		t.Run(name, func(t *testing.T) {
			test.f.Signing.Before = func(context.Context) error { time.Sleep(20 * time.Millisecond); return nil }
			body := test.f.Body(enginetest.Request{Proofs: true, At: test.at})
			answers := make([][]byte, 100)
			var group sync.WaitGroup
			for i := range answers {
				sent := test.f.APIKey.Sign(body) // each with its own stamp
				group.Go(func() {
					record, err := test.nodes[i%len(test.nodes)].Submit(t.Context(), sent)
					if err != nil {
						t.Error(err)
						return
					}
					answers[i] = record.AppendAnswer(nil)
				})
			}
			group.Wait()
			for i, answer := range answers {
				if !bytes.Equal(answer, answers[0]) {
					t.Fatalf("answer %d is\n%s\nand answer 0\n%s", i, answer, answers[0])
				}
			}
			test.f.WantSignatures(t, 1)
		})
	}
}

// TestSubmitRefused checks each refusal with its code and its reason.
func TestSubmitRefused(t *testing.T) {
	f := enginetest.New(t)
	body := f.Body(enginetest.Request{})
	good := f.APIKey.Sign(body)
	signed := func(r enginetest.Request) countersign.SignedBody { return f.APIKey.Sign(f.Body(r)) }
	changed := good
	changed.Body = bytes.Replace(good.Body, []byte("02e801"), []byte("02e802"), 1)
	wrongPath := good
	wrongPath.Path = "init_otp_auth"
	for name, test := range map[string]struct {
		sent    countersign.SignedBody
		reason  activity.Reason
		message string
	}{
		"no stamp":                {countersign.SignedBody{Body: good.Body}, activity.ReasonSignatureMissing, "0 stamps: expected exactly one"},
		"two stamps":              {countersign.SignedBody{Body: good.Body, Stamps: append(good.Stamps, good.Stamps...)}, activity.ReasonSignatureMissing, "2 stamps: expected exactly one"},
		"malformed stamp":         {countersign.SignedBody{Body: good.Body, Stamps: []stamp.Header{{Name: "X-Stamp", Value: "!"}}}, activity.ReasonSignatureInvalid, ""},
		"another body":            {changed, activity.ReasonSignatureInvalid, ""},
		"of another organization": {f.Other.Sign(body), activity.ReasonSignatureInvalid, ""},
		"for another one":         {signed(enginetest.Request{Organization: enginetest.OtherOrganization}), activity.ReasonSignatureInvalid, ""},
		"for no organization":     {signed(enginetest.Request{Organization: "nobody"}), activity.ReasonSignatureInvalid, ""},
		"unknown key":             {enginetest.NewAPIKey(t).Sign(body), activity.ReasonSignatureInvalid, ""},
		"expired key":             {f.Expired.Sign(body), activity.ReasonSignatureInvalid, ""},
		"not allowed this type":   {f.OTPOnly.Sign(body), activity.ReasonNotAuthorized, "may not submit ACTIVITY_TYPE_SIGN_TRANSACTION_V2"},
		"61 minutes old":          {signed(enginetest.Request{At: f.Clock.Now().Add(-61 * time.Minute)}), activity.ReasonInvalidTime, "1h1m0s old, at most 1h0m0s"},
		"a millisecond too old":   {signed(enginetest.Request{At: f.Clock.Now().Add(-time.Hour - time.Millisecond)}), activity.ReasonInvalidTime, "1h0m0.001s old"},
		"three years old":         {signed(enginetest.Request{At: f.Clock.Now().AddDate(-3, 0, 0)}), activity.ReasonInvalidTime, "timestampMs is from " + f.Clock.Now().AddDate(-3, 0, 0).UTC().Format(time.DateOnly) + ", at most 1h0m0s are allowed"},
		"seconds":                 {signed(enginetest.Request{At: time.UnixMilli(f.Clock.Now().Unix())}), activity.ReasonInvalidTime, "timestampMs is in 1970: expected milliseconds"},
		"6 minutes ahead":         {signed(enginetest.Request{At: f.Clock.Now().Add(6 * time.Minute)}), activity.ReasonInvalidTime, "6m0s ahead, at most 5m0s"},
		"another path":            {wrongPath, activity.ReasonRequestInvalid, "does not belong to this path"},
		"malformed envelope":      {f.APIKey.Sign(strings.Replace(body, "type", "Type", 1)), activity.ReasonRequestInvalid, "case-sensitive"},
		"malformed transaction":   {signed(enginetest.Request{Unsigned: "02ec0"}), activity.ReasonInvalidTransaction, "odd number of hex digits"},
		"transaction cut off":     {signed(enginetest.Request{Unsigned: "02ec01"}), activity.ReasonInvalidTransaction, "ethereum"},
		"unknown signWith":        {signed(enginetest.Request{SignWith: "0x0000000000000000000000000000000000000001"}), activity.ReasonNotFound, `could not find any resource to sign with: organization "` + enginetest.Organization + `"`},
		"hazard":                  {signed(enginetest.Request{Unsigned: enginetest.Hazardous}), activity.ReasonHazardNotAllowed, "allow ethereum/no-chain-id by name"},
		"no one-time passwords":   {f.APIKey.Sign(engines.VerifyOTP(f, "a", "b", "")), activity.ReasonRequestInvalid, "this engine has no operation for it"},
	} {
		t.Run(name, func(t *testing.T) {
			record, err := f.Engine.Submit(t.Context(), test.sent)
			if record != nil {
				t.Error("a refusal came with a record")
			}
			enginetest.Refusal(t, err, test.reason, test.message)
			enginetest.Refusal(t, f.Engine.CheckRequest(t.Context(), test.sent), test.reason, test.message)
		})
	}
	f.WantSignatures(t, 0)
}

// TestCheckRequest checks that CheckRequest accepts what would be carried out, and does
// not carry it out.
func TestCheckRequest(t *testing.T) {
	f := enginetest.New(t)
	sent := f.APIKey.Sign(f.Body(enginetest.Request{}))
	for range 2 {
		if err := f.Engine.CheckRequest(t.Context(), sent); err != nil {
			t.Error(err)
		}
	}
	f.WantSignatures(t, 0)
}

func TestLivenessBounds(t *testing.T) {
	f := enginetest.New(t)
	for _, offset := range []time.Duration{-time.Hour, 0, 5 * time.Minute} {
		if _, err := f.Submit(t, enginetest.Request{At: f.Clock.Now().Add(offset)}); err != nil {
			t.Errorf("%v: %v", offset, err)
		}
	}
}

// TestAuthenticationErrorsEqual checks that an unknown organization, an unknown key, an
// expired key and a wrong signature get the same answer.
func TestAuthenticationErrorsEqual(t *testing.T) {
	f := enginetest.New(t)
	body := f.Body(enginetest.Request{})
	wrong := f.APIKey.Sign(body)
	wrong.Body = append(wrong.Body, ' ')
	answers := map[string]string{}
	causes := map[string]string{}
	for name, sent := range map[string]countersign.SignedBody{
		"unknown organization": f.APIKey.Sign(f.Body(enginetest.Request{Organization: "nobody"})),
		"unknown key":          enginetest.NewAPIKey(t).Sign(body),
		"expired key":          f.Expired.Sign(body),
		"wrong signature":      wrong,
	} {
		_, err := f.Engine.Submit(t.Context(), sent)
		refused := enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
		answers[string(refused.AppendJSON(nil))] = name
		causes[errors.Unwrap(refused).Error()] = name
	}
	if len(answers) != 1 {
		t.Errorf("answers differ: %v", answers)
	}
	if len(causes) != 4 {
		t.Errorf("the causes, for the log, do not differ: %v", causes)
	}
}

// TestRetention checks that a body stamped 5 minutes ahead, which can be sent again for
// 65 minutes, is remembered that long.
func TestRetention(t *testing.T) {
	f := enginetest.New(t)
	sent := f.APIKey.Sign(f.Body(enginetest.Request{At: f.Clock.Now().Add(5 * time.Minute)}))
	first := enginetest.MustSubmit(t, f.Engine, sent)
	for range 64 {
		f.Clock.Advance(time.Minute)
		if _, err := f.Submit(t, enginetest.Request{}); err != nil { // causes a sweep
			t.Fatal(err)
		}
	}
	signatures := f.Signing.Signatures.Load()
	again, err := f.Engine.Submit(t.Context(), sent)
	if err != nil || again.ID != first.ID || f.Signing.Signatures.Load() != signatures {
		t.Fatalf("64 minutes later: %v, %d more signatures", err, f.Signing.Signatures.Load()-signatures)
	}
	f.Clock.Advance(time.Minute + time.Millisecond)
	_, err = f.Engine.Submit(t.Context(), sent)
	enginetest.Refusal(t, err, activity.ReasonInvalidTime, "old")
}

func TestAppProof(t *testing.T) {
	f := enginetest.New(t)
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{Proofs: true})))
	if len(record.AppProofs) != 1 {
		t.Fatalf("%d proofs", len(record.AppProofs))
	}
	payload, err := activity.VerifyAppProof(record.AppProofs[0], &f.ProofKey.PublicKey)
	testenv.Must(t, err)
	inspection, err := all.Inspect(activity.TransactionTypeEthereum, enginetest.Unsigned, all.Limits{})
	testenv.Must(t, err)
	want := activity.AppProofPayload{
		TimestampMs: f.Clock.Now().UnixMilli(), OrganizationID: enginetest.Organization, ActivityID: record.ID,
		ActivityType: activity.TypeSignTransaction, Fingerprint: record.Request.Fingerprint.String(),
		Outcome:      activity.StatusCompleted,
		ResultDigest: hexSHA256(`{"signedTransaction":"` + enginetest.Signed + `"}`), SummaryDigest: fmt.Sprintf("%x", inspection.Summary.Digest()),
	}
	if payload != want {
		t.Errorf("payload\n%+v\nwant\n%+v", payload, want)
	}
	without := enginetest.New(t, func(c *countersign.Config) { c.ProofSigner = nil })
	_, err = without.Submit(t, enginetest.Request{Proofs: true})
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "no proof key")
}
