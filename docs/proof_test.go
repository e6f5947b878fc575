package docs_test

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/enginetest"
)

// checkProof checks that the owner of the trusted key has answered exactly this
// body, with exactly this signed transaction, and was shown what inspection
// shows here.
func checkProof(proof activity.AppProof, trusted *ecdsa.PublicKey, body []byte, signed string) error {
	proven, err := activity.VerifyAppProof(proof, trusted)
	if err != nil {
		return err
	}
	request, err := activity.Decode(body)
	if err != nil {
		return err
	}
	intent, ok := request.Intent.(activity.SignTransactionIntent)
	if !ok {
		return errors.New("the body asks for something else")
	}
	inspection, err := countersign.Inspect(intent.Type, intent.UnsignedTransaction, countersign.Limits{})
	if err != nil {
		return err
	}
	summary := inspection.Summary.Digest()
	result := sha256.Sum256(activity.AppendResult(nil, activity.SignTransactionResult{SignedTransaction: signed}))
	switch {
	case proven.Fingerprint != request.Fingerprint.String():
		return errors.New("the proof is for another body")
	case proven.ResultDigest != hex.EncodeToString(result[:]):
		return errors.New("the proof is for another result")
	case proven.SummaryDigest != hex.EncodeToString(summary[:]):
		return errors.New("another transaction was shown")
	}
	return nil
}

// TestProof checks the proof of an activity, and what it does not prove.
func TestProof(t *testing.T) {
	f := enginetest.New(t)
	body := f.Body(enginetest.Request{Proofs: true})
	record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
	if err != nil {
		t.Fatal(err)
	}
	proof, trusted := record.AppProofs[0], &f.ProofKey.PublicKey
	if err := checkProof(proof, trusted, []byte(body), enginetest.Signed); err != nil {
		t.Error(err)
	}
	if checkProof(proof, trusted, []byte(body+"\n"), enginetest.Signed) == nil {
		t.Error("it proves another body too")
	}
	if checkProof(proof, trusted, []byte(body), enginetest.Unsigned) == nil {
		t.Error("it proves another result too")
	}
	if checkProof(proof, &enginetest.New(t).ProofKey.PublicKey, []byte(body), enginetest.Signed) == nil {
		t.Error("it proves it for another key too")
	}
}
