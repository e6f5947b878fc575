package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/verify"
)

// TestSubmitterOf: of each way to recognize a caller without a stamp, what is proven names the
// user and the way, and what is not proven says why. A request with a stamp has no submitter.
func TestSubmitterOf(t *testing.T) {
	f := enginetest.New(t)
	for scheme, not := range map[string]string{
		activity.SchemeLocal:              "that the user asked for it: there is no stamp, and the program that runs the engine",
		"CERTIFICATE dns:batcher.example": "that the holder of the certificate of dns:batcher.example asked for these bytes",
		"PEER uid:1000":                   "that the user asked for it: there is no stamp, and the operator of the engine",
		"TOKEN":                           "that the user asked for it: there is no stamp, and the operator of the engine",
	} {
		request, err := activity.NewRequest(activity.Envelope{OrganizationID: "default", Time: time.Now(), Submitter: activity.Submitter{UserID: "ann", Scheme: scheme}},
			activity.SignTransactionIntent{Type: activity.TransactionTypeEthereum, SignWith: enginetest.Address, UnsignedTransaction: "02"})
		testenv.Must(t, err)
		said, err := verify.SubmitterOf(verify.Trust{Body: request.Body, ProofKey: &f.ProofKey.PublicKey})
		if err != nil || said.UserID != "ann" || said.Authentication != scheme || !strings.HasPrefix(said.NotProven, not) ||
			!strings.HasSuffix(said.Proven, "as one of user ann, whom it recognized by "+scheme) {
			t.Errorf("%s: %+v, %v", scheme, said, err)
		}
		if said, err = verify.SubmitterOf(verify.Trust{Body: request.Body}); err != nil || !strings.HasPrefix(said.Proven, "nothing about the caller: ") {
			t.Errorf("%s, without a key: %+v, %v", scheme, said, err)
		}
	}
	if said, err := verify.SubmitterOf(verify.Trust{Body: []byte(f.Body(enginetest.Request{}))}); err != nil || said != nil {
		t.Errorf("with a stamp: %+v, %v", said, err)
	}
	if _, err := verify.SubmitterOf(verify.Trust{Body: []byte("{}")}); err == nil {
		t.Error("not a request, and no error")
	}
}

// TestShortAnswerResult: a short answer has the result of the kind of intent that it answers,
// and of no other.
func TestShortAnswerResult(t *testing.T) {
	one, two := activity.SignRawPayloadResult{R: "1"}, activity.SignRawPayloadResult{R: "2"}
	results := map[string]activity.Result{
		"transaction": activity.SignTransactionResult{SignedTransaction: "02"},
		"message":     one,
		"messages":    activity.SignRawPayloadsResult{Signatures: []activity.SignRawPayloadResult{one, two}},
	}
	intents := map[string]activity.Intent{
		"transaction": activity.SignTransactionIntent{},
		"message":     activity.SignRawPayloadIntent{},
		"messages":    activity.SignRawPayloadsIntent{Payloads: []string{"1", "2"}},
	}
	for of, result := range results {
		short, err := verify.NewShortAnswer(activity.Fingerprint{}, result, nil)
		testenv.Must(t, err)
		for to, intent := range intents {
			read, err := short.Result(intent)
			switch {
			case of != to && err == nil:
				t.Errorf("the answer to a %s was read as one to a %s", of, to)
			case of == to && (err != nil || string(activity.AppendResult(nil, read)) != string(activity.AppendResult(nil, result))):
				t.Errorf("%s: %v, %v", of, read, err)
			}
		}
	}
	both := verify.ShortAnswer{SignedTransaction: "02", Signatures: []activity.SignRawPayloadResult{one}}
	for to, intent := range intents {
		if _, err := both.Result(intent); err == nil {
			t.Errorf("an answer with both was read as one to a %s", to)
		}
	}
	if _, err := verify.NewShortAnswer(activity.Fingerprint{}, activity.InitOTPAuthResult{}, nil); err == nil {
		t.Error("a one-time password has a short answer")
	}
}
