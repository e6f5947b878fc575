package activity_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestParseFingerprint: a fingerprint is "sha256:" and 64 lower-case hex digits.
func TestParseFingerprint(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	for text, valid := range map[string]bool{
		"sha256:" + digits: true, digits: false, "": false, "sha256:": false, "SHA256:" + digits: false, "sha256:" + strings.ToUpper(digits): false,
		"sha256:" + digits[1:]: false, "sha256:" + digits + "0": false, "sha256:" + digits + "00": false, "sha256:" + digits[2:]: false,
		"sha256:" + digits[1:] + "g": false, "sha256:" + digits[2:] + "G0": false, " sha256:" + digits: false, "sha256:sha256:" + digits[7:]: false,
	} {
		parsed, err := activity.ParseFingerprint(text)
		switch refused, isError := errors.AsType[*activity.Error](err); {
		case valid && (err != nil || parsed.String() != text):
			t.Errorf("%q: %v, %v", text, parsed, err)
		case !valid && (!isError || parsed != activity.Fingerprint{} || !strings.Contains(refused.Message, fmt.Sprintf("fingerprint %q", text))):
			t.Errorf("%q: %v, %v", text, parsed, err)
		}
	}
}

// TestVotes: the votes of NewApproval and NewRejection are decoded as they were made, and
// those that commit to no digest are refused.
func TestVotes(t *testing.T) {
	of := activity.Fingerprint(sha256.Sum256([]byte("x")))
	digest := hex.EncodeToString(of[:])
	envelope := activity.Envelope{OrganizationID: "org", Time: time.UnixMilli(1)}
	for _, vote := range []activity.VoteIntent{activity.NewApproval(of, ""), activity.NewApproval(of, digest), activity.NewRejection(of, ""), activity.NewRejection(of, digest)} {
		request, err := activity.NewRequest(envelope, vote)
		if err != nil || request.Intent != activity.Intent(vote) {
			t.Errorf("%+v: %+v, %v", vote, request, err)
		}
		approves := vote.ActivityType() == activity.TypeApproveActivity
		if want := map[bool]activity.Selection{true: activity.SelectionApproved, false: activity.SelectionRejected}[approves]; vote.Selection() != want {
			t.Errorf("%s is the vote %s", vote.ActivityType(), vote.Selection())
		}
	}
	for _, shown := range []string{digest[1:], digest + "0", digest[2:], strings.ToUpper(digest), digest[1:] + "g", "sha256:" + digest, "0x" + digest[2:]} {
		if _, err := activity.NewRequest(envelope, activity.NewApproval(of, shown)); err == nil || !strings.Contains(err.Error(), "shown") {
			t.Errorf("shown %q: %v", shown, err)
		}
	}
}

// TestReviewCheck: a review of which anything is changed that a voter is shown does not pass.
func TestReviewCheck(t *testing.T) {
	good := activity.Review{Summary: `{"a":1}`, Effects: `[1]`, KeyIDs: []string{"k1", "k2"}, Readings: `[2]`}
	sum := func(text string) []byte { digest := sha256.Sum256([]byte(text)); return digest[:] }
	shown := sha256.Sum256(slices.Concat(sum(good.Summary), sum("k1\nk2"), sum(good.Effects), sum(good.Readings)))
	good.SummaryDigest, good.Shown = hex.EncodeToString(sum(good.Summary)), hex.EncodeToString(shown[:])
	testenv.Must(t, good.Check())
	reading := activity.Reading{Summary: good.Summary, Effects: good.Effects, KeyIDs: good.KeyIDs, Readings: good.Readings}
	if ofSummary := reading.SummaryDigest(); reading.Digest() != shown || hex.EncodeToString(ofSummary[:]) != good.SummaryDigest {
		t.Errorf("digests of the reading: %x, %x", reading.Digest(), ofSummary)
	}
	for name, change := range map[string]func(*activity.Review){
		"summary":              func(r *activity.Review) { r.Summary += " " },
		"summary's digest":     func(r *activity.Review) { r.SummaryDigest = r.Shown },
		"effects":              func(r *activity.Review) { r.Effects += " " },
		"effects and readings": func(r *activity.Review) { r.Effects, r.Readings = r.Readings, r.Effects },
		"readings":             func(r *activity.Review) { r.Readings += " " },
		"a key":                func(r *activity.Review) { r.KeyIDs = []string{"k1", "k3"} },
		"order of the keys":    func(r *activity.Review) { r.KeyIDs = []string{"k2", "k1"} },
		"a key less":           func(r *activity.Review) { r.KeyIDs = []string{"k1"} },
		"keys joined":          func(r *activity.Review) { r.KeyIDs = []string{"k1k2"} },
		"shown":                func(r *activity.Review) { r.Shown = strings.ToUpper(r.Shown) },
		"nothing shown":        func(r *activity.Review) { r.Shown = "" },
	} {
		changed := good
		if change(&changed); changed.Check() == nil {
			t.Errorf("%s changed: it passes", name)
		}
	}
}

// TestRedacted: a code that may still be valid is not in the redacted intent.
func TestRedacted(t *testing.T) {
	intent := activity.VerifyOTPIntent{OTPID: "id", OTPCode: "123456", PublicKey: "key"}
	if got, want := intent.Redacted(), (activity.VerifyOTPIntent{OTPID: "id", PublicKey: "key"}); got != activity.Intent(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestAnsweredVotes: a vote in an answer has what the answer shows of it, and nothing that
// the answer claims beyond that.
func TestAnsweredVotes(t *testing.T) {
	at := time.Unix(1700000000, 5).UTC()
	shown := activity.Vote{ID: "v", UserID: "u", UserName: "Ann", Selection: activity.SelectionApproved, Message: "body",
		PublicKey: "02", Signature: "30", Scheme: "SIGNATURE_SCHEME_TK_API_P256", CreatedAt: at}
	recorded := shown
	recorded.Credential, recorded.StampedAt, recorded.UserSince = "api-key:02", at, at
	record := vectors(t)["example_superset_sign_transaction.json"].record(t)
	record.Votes = []activity.Vote{recorded}
	var answer struct {
		Activity struct{ Votes activity.AnsweredVotes }
	}
	testenv.JSON(t, record.AppendAnswer(nil), &answer)
	if votes := answer.Activity.Votes; len(votes) != 1 || votes[0] != shown {
		t.Errorf("%+v, want %+v", votes, shown)
	}
	var claimed activity.AnsweredVotes
	if err := json.Unmarshal([]byte(`[{"userId":"u","credential":"c","stampedAt":"2026-01-01T00:00:00Z","createdAt":{"seconds":"x","nanos":"0"}}]`), &claimed); err != nil || claimed[0] != (activity.Vote{UserID: "u"}) {
		t.Errorf("%+v: %v", claimed, err)
	}
}

// TestWithoutStamps hides the signatures of some votes in a copy.
func TestWithoutStamps(t *testing.T) {
	record := &activity.Record{Votes: []activity.Vote{{ID: "1", Signature: "a"}, {ID: "2", Signature: "b"}, {ID: "3", Signature: "c"}}}
	hidden := record.WithoutStamps(func(vote *activity.Vote) bool { return vote.ID != "2" })
	for i, want := range []string{"", "b", ""} {
		if hidden.Votes[i].Signature != want || record.Votes[i].Signature != string(rune('a'+i)) {
			t.Errorf("vote %d: %q of %q", i, hidden.Votes[i].Signature, record.Votes[i].Signature)
		}
	}
}

// TestDecodeListActivities: the filters and pages of list_activities.
func TestDecodeListActivities(t *testing.T) {
	query, err := activity.DecodeListActivities([]byte(`{"organizationId":"org","filterByStatus":["ACTIVITY_STATUS_COMPLETED","ACTIVITY_STATUS_CREATED"],"filterByType":["A","B"],"paginationOptions":{"limit":"7","before":"b","after":"a"}}`))
	if err != nil || !slices.Equal(query.Statuses, []activity.Status{activity.StatusCompleted, "ACTIVITY_STATUS_CREATED"}) ||
		!slices.Equal(query.Types, []activity.Type{"A", "B"}) || query.Limit != 7 || query.Before != "b" || query.After != "a" || query.OrganizationID != "org" {
		t.Errorf("%+v, %v", query, err)
	}
	for _, status := range []string{"", "COMPLETED", "ACTIVITY_STATUS_COMPLETED ", "ACTIVITY_STATUS_UNKNOWN"} {
		_, err := activity.DecodeListActivities(fmt.Appendf(nil, `{"organizationId":"org","filterByStatus":["ACTIVITY_STATUS_FAILED",%q]}`, status))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("status %q is not known", status)) {
			t.Errorf("status %q: %v", status, err)
		}
	}
	for limit, want := range map[string]int{"": activity.DefaultPage, "1": 1, "100": 100, "0": 0, "-1": 0, "101": 0, "x": 0, "1.5": 0, "+5": 0, "05": 0, " 5": 0} {
		query, err := activity.DecodeListActivities(fmt.Appendf(nil, `{"organizationId":"org","paginationOptions":{"limit":%q}}`, limit))
		if query.Limit != want || (err == nil) != (want > 0) || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("limit %q: expected 1 to 100, as a string", limit)) {
			t.Errorf("limit %q: %d, %v", limit, query.Limit, err)
		}
	}
}

// TestAppendPolicies: the members of list_policies.
func TestAppendPolicies(t *testing.T) {
	var got struct {
		Policies []map[string]any `json:"policies"`
	}
	text := activity.AppendPolicies([]byte("  "), []activity.PolicyRule{{ID: "1", Name: "a", Allow: true, Condition: "c", Consensus: "d", Notes: "e"}, {ID: "2", Name: "b"}})
	if err := json.Unmarshal(text, &got); err != nil || len(got.Policies) != 2 {
		t.Fatalf("%s: %v", text, err)
	}
	epoch := `{"nanos":"0","seconds":"0"}`
	for i, want := range []string{
		`{"condition":"c","consensus":"d","createdAt":` + epoch + `,"effect":"EFFECT_ALLOW","notes":"e","policyId":"1","policyName":"a","updatedAt":` + epoch + `}`,
		`{"condition":"","consensus":"","createdAt":` + epoch + `,"effect":"EFFECT_DENY","notes":"","policyId":"2","policyName":"b","updatedAt":` + epoch + `}`,
	} {
		if one, err := json.Marshal(got.Policies[i]); err != nil || string(one) != want {
			t.Errorf("%s, want %s", one, want)
		}
	}
}

// TestDecodeHalt: a halt of a user or a key, whose id is empty by mistake, is none of the organization.
func TestDecodeHalt(t *testing.T) {
	for parameters, want := range map[string]string{
		"": "", `"userId":null`: "", `"userId":"a"`: "", `"privateKeyId":"a"`: "",
		`"userId":""`:                      "an empty id names none",
		`"privateKeyId":""`:                "an empty id names none",
		`"userId":"a","privateKeyId":""`:   "expected at most one",
		`"userId":"a","privateKeyId":"b"`:  "expected at most one",
		`"userId":"a","privateKeyId":null`: "",
	} {
		for _, kind := range []activity.Type{activity.TypeHalt, activity.TypeResume} {
			decoded, err := activity.Decode(fmt.Appendf(nil,
				`{"type":%q,"timestampMs":"1","organizationId":"o","parameters":{%s}}`, kind, parameters))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", parameters, err, want)
			}
			if err != nil {
				continue
			}
			intent := decoded.Intent.(activity.HaltIntent)
			if id := intent.UserID + intent.KeyID; (id == "a") != strings.Contains(parameters, `"a"`) {
				t.Errorf("%s: read as %+v", parameters, intent)
			}
		}
	}
}

// TestDecodePolicyResume: what asks for a policy ends no halt, whatever its digest looks like.
func TestDecodePolicyResume(t *testing.T) {
	digest := strings.Repeat("0f", 32)
	for parameters, want := range map[string]string{
		`"policy":"` + digest + `"`:                        "",
		`"policy":""`:                                      "64 lower-case hex digits",
		`"policy":"` + strings.ToUpper(digest) + `"`:       "64 lower-case hex digits",
		`"policy":"` + digest[:62] + `"`:                   "64 lower-case hex digits",
		`"policy":"` + digest + `0"`:                       "at most 64 are allowed",
		`"policy":"0` + strings.Repeat("z", 62) + `0"`:     "64 lower-case hex digits",
		`"policy":"` + strings.Repeat("\uff10", 21) + `0"`: "64 lower-case hex digits",
		`"policy":" ` + digest[1:] + `"`:                   "64 lower-case hex digits",
		`"policy":"` + digest + `","userId":"a"`:           "no userId or privateKeyId beside it",
		`"policy":"` + digest + `","userId":""`:            "no userId or privateKeyId beside it",
		`"policy":"` + digest + `","privateKeyId":"a"`:     "no userId or privateKeyId beside it",
		`"policy":"` + digest + `","answers":true`:         "unknown member",
		`"policy":"` + digest + `","policy":null`:          "policy",
		`"Policy":"` + digest + `"`:                        "unknown member",
		`"policy":1`:                                       "expected a string",
	} {
		decoded, err := activity.Decode(fmt.Appendf(nil,
			`{"type":"ACTIVITY_TYPE_RESUME","timestampMs":"1","organizationId":"o","parameters":{%s}}`, parameters))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", parameters, err, want)
		}
		if err == nil && decoded.Intent != activity.Intent(activity.NewPolicyResume([32]byte(bytes.Repeat([]byte{15}, 32)))) {
			t.Errorf("%s: read as %+v", parameters, decoded.Intent)
		}
	}
	_, err := activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_HALT","timestampMs":"1","organizationId":"o","parameters":{"policy":"` + digest + `"}}`))
	if err == nil || !strings.Contains(err.Error(), "unknown member") {
		t.Errorf("a halt: %v", err)
	}
}
