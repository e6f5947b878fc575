package activity_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// vector is a request and the answer that public clients accepted for it.
type vector struct {
	Request struct {
		Body string `json:"body"`
	} `json:"request"`
	Response struct {
		Activity map[string]any `json:"activity"`
	} `json:"response"`
}

func vectors(t testing.TB) map[string]vector {
	t.Helper()
	paths, err := filepath.Glob("testdata/example_*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("vectors: %v, %v", paths, err)
	}
	all := map[string]vector{}
	for _, path := range paths {
		text := testenv.Read(t, path)
		var one vector
		testenv.JSON(t, text, &one)
		all[filepath.Base(path)] = one
	}
	return all
}

var someTime = time.Date(2026, 11, 20, 15, 5, 34, 780_000_000, time.UTC)

// record returns the record that the vector's answer describes.
func (v vector) record(t testing.TB) *activity.Record {
	t.Helper()
	return recordOf(t, v.Request.Body, v.Response.Activity)
}

// recordOf returns the record of a body with the id and the result of an answer.
func recordOf(t testing.TB, body string, answer map[string]any) *activity.Record {
	t.Helper()
	request, err := activity.Decode([]byte(body))
	testenv.Must(t, err)
	record := &activity.Record{
		ID: answer["id"].(string), Request: request, CreatedAt: someTime, UpdatedAt: someTime,
		Status: activity.StatusCompleted,
		Votes: []activity.Vote{{
			ID: "0197-vote", Selection: activity.SelectionApproved, StampedAt: request.Time(), CreatedAt: someTime, UserID: "user-1", UserName: "Ada <\"root\">", Credential: "api:02ab",
			PublicKey: "02ab", Signature: "3044", Scheme: "SIGNATURE_SCHEME_TK_API_P256",
		}},
	}
	result := answer["result"].(map[string]any)
	switch request.Type {
	case activity.TypeSignTransaction:
		signed := result["signTransactionResult"].(map[string]any)["signedTransaction"].(string)
		record.Result = activity.SignTransactionResult{SignedTransaction: signed}
	case activity.TypeInitOTPAuth:
		id := result["initOtpAuthResultV2"].(map[string]any)["otpId"].(string)
		record.Result = activity.InitOTPAuthResult{OTPID: id}
	}
	return record
}

func answerOf(t testing.TB, record *activity.Record) map[string]any {
	t.Helper()
	var answer struct {
		Activity map[string]any `json:"activity"`
	}
	text := record.AppendAnswer(nil)
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("answer is not JSON: %v\n%s", err, text)
	}
	return answer.Activity
}

func TestVectors(t *testing.T) {
	for name, vector := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			want := vector.Response.Activity
			got := answerOf(t, vector.record(t))
			for _, member := range []string{"id", "organizationId", "status", "type", "intent", "fingerprint", "canApprove", "canReject", "timestampMs", "appProofs", "failure"} {
				if value, ok := got[member]; !ok || !reflect.DeepEqual(value, want[member]) {
					t.Errorf("%s is %v, want %v", member, value, want[member])
				}
			}
			compareResults(t, got, want)
			if names := sortedNames(got); !slices.Equal(names, sortedNames(want)) {
				t.Errorf("members %v, want %v", names, sortedNames(want))
			}
			compareNested(t, got, want)
		})
	}
}

func sortedNames(object map[string]any) []string {
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func compareResults(t *testing.T, got, want map[string]any) {
	t.Helper()
	mine, theirs := got["result"].(map[string]any), want["result"].(map[string]any)
	for name, value := range theirs {
		if name != "activity" && !reflect.DeepEqual(mine[name], value) {
			t.Errorf("result.%s is %v, want %v", name, mine[name], value)
		}
	}
}

// compareNested compares the record in result.activity. Its times are strings, unlike those
// of the activity.
func compareNested(t *testing.T, got, want map[string]any) {
	t.Helper()
	nested := got["result"].(map[string]any)["activity"].(map[string]any)
	theirs := want["result"].(map[string]any)["activity"].(map[string]any)
	if names := sortedNames(nested); !slices.Equal(names, sortedNames(theirs)) {
		t.Errorf("result.activity has members %v, want %v", names, sortedNames(theirs))
	}
	for _, member := range []string{"id", "intent", "result", "fingerprint", "status", "type"} {
		if !reflect.DeepEqual(nested[member], theirs[member]) {
			t.Errorf("result.activity.%s is %v, want %v", member, nested[member], theirs[member])
		}
	}
	if nested["createdAt"] != "2026-11-20T15:05:34.78Z" {
		t.Errorf("result.activity.createdAt is %v", nested["createdAt"])
	}
	outer := map[string]any{"seconds": "1795187134", "nanos": "780000000"}
	if !reflect.DeepEqual(got["createdAt"], outer) {
		t.Errorf("createdAt is %v, want %v", got["createdAt"], outer)
	}
}

func TestVoteIsEvidence(t *testing.T) {
	vector := vectors(t)["example_superset_sign_transaction.json"]
	answer := answerOf(t, vector.record(t))
	votes := answer["votes"].([]any)
	if len(votes) != 1 {
		t.Fatalf("%d votes, want the submitter's", len(votes))
	}
	vote := votes[0].(map[string]any)
	want := map[string]any{
		"id": "0197-vote", "userId": "user-1", "activityId": answer["id"], "selection": "VOTE_SELECTION_APPROVED",
		"message": vector.Request.Body, "publicKey": "02ab", "signature": "3044", "scheme": "SIGNATURE_SCHEME_TK_API_P256",
		"createdAt": answer["createdAt"], "user": map[string]any{
			"userId": "user-1", "userName": "Ada <\"root\">", "authenticators": []any{}, "apiKeys": []any{},
			"userTags": []any{}, "oauthProviders": []any{}, "mfaPolicies": []any{},
			"createdAt": map[string]any{"seconds": "0", "nanos": "0"}, "updatedAt": map[string]any{"seconds": "0", "nanos": "0"},
		},
	}
	if !reflect.DeepEqual(vote, want) {
		t.Errorf("vote\n%v\nwant\n%v", vote, want)
	}
	digest := sha256.Sum256([]byte(vote["message"].(string)))
	if fingerprint := "sha256:" + hex.EncodeToString(digest[:]); answer["fingerprint"] != fingerprint {
		t.Errorf("fingerprint %v, want %v", answer["fingerprint"], fingerprint)
	}
}
