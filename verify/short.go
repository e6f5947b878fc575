package verify

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/activity"
)

// ShortAnswer is the answer to a request to sign without what the requester already
// knows: a few hundred bytes, so that it fits into a QR code.
type ShortAnswer struct {
	Fingerprint       string                          `json:"fingerprint"` // of the body
	SignedTransaction string                          `json:"signedTransaction,omitempty"`
	Signatures        []activity.SignRawPayloadResult `json:"signatures,omitempty"` // of messages, in their order
	AppProof          *activity.AppProof              `json:"appProof,omitempty"`
}

// NewShortAnswer returns the short answer with a result and an app proof, which may be nil.
// It is an error if the result is no signature.
func NewShortAnswer(fingerprint activity.Fingerprint, result activity.Result, proof *activity.AppProof) (ShortAnswer, error) {
	answer := ShortAnswer{Fingerprint: fingerprint.String(), AppProof: proof}
	switch result := result.(type) {
	case activity.SignTransactionResult:
		answer.SignedTransaction = result.SignedTransaction
	case activity.SignRawPayloadResult:
		answer.Signatures = []activity.SignRawPayloadResult{result}
	case activity.SignRawPayloadsResult:
		answer.Signatures = result.Signatures
	default:
		return ShortAnswer{}, errors.New("only signatures have a short answer")
	}
	return answer, nil
}

// Result returns what the activity of the given intent answered. It is an error if the
// answer is to another kind of intent.
func (a *ShortAnswer) Result(intent activity.Intent) (activity.Result, error) {
	switch intent := intent.(type) {
	case activity.SignTransactionIntent:
		if a.SignedTransaction != "" && a.Signatures == nil {
			return activity.SignTransactionResult{SignedTransaction: a.SignedTransaction}, nil
		}
	case activity.SignRawPayloadIntent:
		if a.SignedTransaction == "" && len(a.Signatures) == 1 {
			return a.Signatures[0], nil
		}
	case activity.SignRawPayloadsIntent:
		if a.SignedTransaction == "" && len(a.Signatures) == len(intent.Payloads) {
			return activity.SignRawPayloadsResult{Signatures: a.Signatures}, nil
		}
	default:
		return nil, fmt.Errorf("the body asks for %s, and a short answer has signatures", intent.ActivityType())
	}
	what := fmt.Sprintf("%d signatures", len(a.Signatures))
	if a.SignedTransaction != "" && a.Signatures == nil {
		what = "a signed transaction"
	}
	return nil, fmt.Errorf("this is not the answer to %s: it has %s", intent.ActivityType(), what)
}

// Short is Answer for a short answer. The status is that of the app proof. A short answer has no votes,
// which are not checked, and no log proof: with a LogKey it is refused.
func Short(answer ShortAnswer, trust Trust) ([]Check, error) {
	if trust.LogKey != "" {
		return nil, fmt.Errorf("%w: log: a short answer has no proof of it: use the full answer", ErrAnswer)
	}
	v := verification{trust: trust}
	var err error
	if v.request, err = activity.Decode(trust.Body); err != nil {
		return nil, fmt.Errorf("%w: the body of the request: %w", ErrAnswer, err)
	}
	return runChecks([]answerCheck{
		{"body", func() (string, error) {
			if answer.Fingerprint != v.request.Fingerprint.String() {
				return "", errors.New("this is the answer to another body")
			}
			_, err := answer.Result(v.request.Intent)
			return "", err
		}},
		{"status", func() (string, error) { return v.shortStatus(answer) }},
		{"proof", func() (string, error) {
			if v.proven == nil {
				return "no proof key was given", nil
			}
			return "", v.isProof(v.proven)
		}},
		{"result", func() (string, error) { return v.shortResult(answer) }},
		{"summary", v.summary},
	})
}

// shortStatus verifies the proof and takes the status from it.
func (v *verification) shortStatus(answer ShortAnswer) (string, error) {
	switch {
	case v.trust.ProofKey == nil:
		return "no proof key was given, and a short answer has no status of its own", nil
	case answer.AppProof == nil:
		return "", errors.New("there is no proof: request it with generateAppProofs")
	}
	proven, err := activity.VerifyAppProof(*answer.AppProof, v.trust.ProofKey)
	if err != nil {
		return "", err
	}
	if proven.Outcome != activity.StatusCompleted {
		return "", fmt.Errorf("the activity is %s", proven.Outcome)
	}
	v.proven = &proven
	return "", nil
}

func (v *verification) shortResult(answer ShortAnswer) (string, error) {
	if v.proven == nil {
		return skippedUnproven, nil
	}
	result, err := answer.Result(v.request.Intent)
	if err != nil {
		return "", err
	}
	if hexDigest(sha256.Sum256(activity.AppendResult(nil, result))) != v.proven.ResultDigest {
		return "", errors.New("another result was proven")
	}
	return "", nil
}
