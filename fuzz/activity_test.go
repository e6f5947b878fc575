package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// FuzzActivityDecode checks that an accepted body means the same to encoding/json, is
// kept byte for byte, and can be recovered from the JSON of its answer.
func FuzzActivityDecode(f *testing.F) {
	files, err := filepath.Glob("../activity/testdata/example_*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		var vector struct{ Request struct{ Body string } }
		text := testenv.Read(f, file)
		testenv.JSON(f, text, &vector)
		f.Add([]byte(vector.Request.Body))
	}
	f.Add([]byte(`{"type":"ACTIVITY_TYPE_VERIFY_OTP","timestampMs":"1","organizationId":"\ud83d\ude00","parameters":{"otpId":"i","otpCode":"c","publicKey":null},"generateAppProofs":true}`))
	for _, list := range []string{`{"signWith":"a","unsignedTransaction":"b"},{"unsignedTransaction":"b","signWith":"\u0061"}`, ``, `{"signWith":"a"}`} {
		f.Add([]byte(`{"type":"ACTIVITY_TYPE_COUNTERSIGN_SIGN_TRANSACTIONS","timestampMs":"1","organizationId":"o","parameters":{"transactions":[` + list + `],"type":"c"}}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := activity.Decode(bytes.Clone(body))
		if err != nil {
			var refused *activity.Error
			if !errors.As(err, &refused) || refused.Reason != activity.ReasonRequestInvalid {
				t.Fatalf("refused with %v", err)
			}
			if !json.Valid(refused.AppendJSON(nil)) {
				t.Fatalf("the refusal is not JSON: %s", refused.AppendJSON(nil))
			}
			return
		}
		checkReading(t, request, body)
		checkAnswer(t, request, body)
	})
}

// checkReading compares a request with what encoding/json reads.
func checkReading(t *testing.T, request *activity.Request, body []byte) {
	t.Helper()
	var other struct {
		Type           string
		TimestampMs    string
		OrganizationID string
		Parameters     json.RawMessage
	}
	if err := json.Unmarshal(body, &other); err != nil {
		t.Fatalf("taken, though encoding/json says %v", err)
	}
	if string(request.Type) != other.Type || request.OrganizationID != other.OrganizationID || !bytes.Equal(request.Parameters(), other.Parameters) || !bytes.Equal(request.Body, body) {
		t.Fatalf("read differently by encoding/json: %s", body)
	}
	switch sign := request.Intent.(type) {
	case activity.SignTransactionIntent:
		var theirs activity.SignTransactionIntent
		if err := json.Unmarshal(other.Parameters, &theirs); err != nil || theirs != sign {
			t.Fatalf("parameters are read differently: %s", body)
		}
	case activity.SignTransactionsIntent:
		var theirs activity.SignTransactionsIntent
		if err := json.Unmarshal(other.Parameters, &theirs); err != nil || theirs.Type != sign.Type || !slices.Equal(theirs.Transactions, sign.Transactions) {
			t.Fatalf("parameters are read differently: %s", body)
		}
	}
}

func checkAnswer(t *testing.T, request *activity.Request, body []byte) {
	t.Helper()
	if _, vote := request.Intent.(activity.VoteIntent); vote {
		return // it is answered with the activity that it is on
	}
	record := recordOf(request)
	text := record.AppendAnswer(nil)
	var answer struct {
		Activity struct {
			Votes []struct{ Message string }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Activity.Votes[0].Message != string(body) {
		t.Fatalf("answered with %s (%v)", text, err)
	}
	if whole, size := record.Answer(); size != len(text) || whole != nil && !bytes.Equal(whole, text) {
		t.Fatalf("an answer of %d bytes is said to have %d, whole %d", len(text), size, len(whole))
	}
	stored, err := activity.DecodeRecord(record.Encode())
	if err != nil || !bytes.Equal(stored.AppendAnswer(nil), text) {
		t.Fatalf("from the store %v", err)
	}
}

// recordOf returns a completed activity with the submitter's vote.
func recordOf(request *activity.Request) *activity.Record {
	return &activity.Record{
		ID: "id", Request: request, Status: activity.StatusCompleted, Result: resultOf(request.Type),
		Votes:     []activity.Vote{{ID: "vote", Selection: activity.SelectionApproved, StampedAt: request.Time()}},
		CreatedAt: time.Unix(1, 5).UTC(), UpdatedAt: time.Unix(1, 5).UTC(),
	}
}

func resultOf(kind activity.Type) activity.Result {
	switch kind {
	case activity.TypeInitOTPAuth:
		return activity.InitOTPAuthResult{OTPID: "o"}
	case activity.TypeVerifyOTP:
		return activity.VerifyOTPResult{VerificationToken: "t"}
	case activity.TypeInitOTPV2:
		return activity.InitOTPV2Result{OTPID: "o"}
	case activity.TypeInitOTPV3:
		return activity.InitOTPV3Result{OTPID: "o", TargetBundle: "{}"}
	case activity.TypeVerifyOTPV2:
		return activity.VerifyOTPV2Result{VerificationToken: "t"}
	case activity.TypeSignTransactions:
		return activity.SignTransactionsResult{SignedTransactions: []string{"00", "01"}}
	}
	return activity.SignTransactionResult{SignedTransaction: "00"}
}

// FuzzActivityRecord checks that reading arbitrary stored bytes does not panic, and
// that what is read can be answered.
func FuzzActivityRecord(f *testing.F) {
	request, err := activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"1","organizationId":"o","parameters":{"signWith":"a","unsignedTransaction":"b","type":"c"}}`))
	testenv.Must(f, err)
	f.Add(recordOf(request).Encode())
	f.Fuzz(func(t *testing.T, stored []byte) {
		record, err := activity.DecodeRecord(stored)
		if err == nil {
			record.AppendAnswer(nil)
		}
	})
}
