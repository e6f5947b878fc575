// Package verify checks offline what an engine answered: the activity, its result, its
// proofs, its place in the log, and the stamps of those who approved it. It needs only
// public keys and the bytes of the request.
//
//   - [Answer] checks an answer of the API.
//   - [Short] checks a [ShortAnswer], which fits into a QR code.
//   - [Votes] checks the stamps of a record.
package verify

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/translog"
)

// Trust is what the caller of Answer knows independently of the answer.
type Trust struct {
	// Body is the body of the request, byte for byte.
	Body []byte

	// ProofKey is the key of the engine's app proofs. If it is nil, they are not checked.
	ProofKey *ecdsa.PublicKey

	// LogKey is the key of the organization's log, as translog.Signer.VerifierKey
	// returns it. If it is empty, the log is not checked.
	LogKey string

	// Members are the members of the organization, with their public keys. If it is
	// nil, the votes are not checked.
	Members []access.Member

	// Approvals are groups that the votes must fill, in addition to the submitter's
	// stamp: an answer does not say what was demanded.
	Approvals []access.Group

	// Shown is the digest of what the voters were shown, in lower-case hex: the shown of
	// the [activity.Review] that one of them kept. An answer does not have it. If it is
	// empty, votes that name one must all name the same.
	Shown string

	// Chains are those that the engine signs for, with the same limits. They read the transaction
	// or the message in the body. If there are none, its summary is not checked.
	Chains []chains.Chain
}

// ErrAnswer is wrapped by the errors of Answer and Short.
var ErrAnswer = errors.New("the answer does not verify")

// Check is one check of an answer that passed or was skipped.
type Check struct {
	Name    string `json:"name"`              // body, status, proof, result, summary, log, votes
	Skipped string `json:"skipped,omitempty"` // why it was skipped; empty: it passed
}

// Answer checks an answer, {"activity":…}, offline, against what the caller knows:
//
//	body     the answer is to exactly this body, and repeats what it asks for
//	status   the activity is completed
//	proof    the owner of ProofKey proves that, of this activity
//	result   the result is the proven one
//	summary  the transaction or message in the body has the proven summary
//	log      with LogKey: the activity is in the log that the key's owner signs
//	votes    with Members: each vote is by one of them on this activity, see Votes
//
// It returns the checks in this order. A check that lacks a key or does not apply is skipped. The error
// wraps ErrAnswer and names the check that failed; the checks before it are returned too.
func Answer(answer []byte, trust Trust) ([]Check, error) {
	v := verification{trust: trust}
	if err := v.read(answer); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	checks := []answerCheck{
		{"body", v.body}, {"status", v.status}, {"proof", v.proof}, {"result", v.result}, {"summary", v.summary},
	}
	if trust.LogKey != "" {
		checks = append(checks, answerCheck{"log", v.log})
	}
	if trust.Members != nil {
		checks = append(checks, answerCheck{"votes", v.votes})
	}
	return runChecks(checks)
}

type answerCheck struct {
	name string
	do   func() (skipped string, err error)
}

// runChecks runs checks up to the first that fails, and returns those before it.
func runChecks(checks []answerCheck) (done []Check, err error) {
	for _, check := range checks {
		skipped, err := check.do()
		if err != nil {
			return done, fmt.Errorf("%w: %s: %w", ErrAnswer, check.name, err)
		}
		done = append(done, Check{check.name, skipped})
	}
	return done, nil
}

// verification is one call of Answer.
type verification struct {
	trust    Trust
	request  *activity.Request
	activity answered
	proven   *activity.AppProofPayload // nil unless a proof was checked
}

// answered is the part of an answer that is checked.
type answered struct {
	activityHead
	AppProofs []activity.AppProof
	Log       *activity.LogProof // nil if there is none
	Votes     activity.AnsweredVotes
	Result    members      // of the activity
	Recorded  members      // of the record in the result
	Record    activityHead // of the record in the result
}

// activityHead says what an activity is about. An answer has it twice: in the activity,
// and in the record of it in the result.
type activityHead struct {
	ID             string
	OrganizationID string
	Status         activity.Status
	Type           activity.Type
	Fingerprint    string
	Intent         members
}

func (h *activityHead) read(all members) error {
	return all.read(member{"id", &h.ID}, member{"organizationId", &h.OrganizationID}, member{"status", &h.Status},
		member{"type", &h.Type}, member{"fingerprint", &h.Fingerprint}, member{"intent", &h.Intent})
}

// isFor reports whether the intent has the parameters of a body.
func (h *activityHead) isFor(body []byte) (bool, error) {
	var request members
	if err := json.Unmarshal(body, &request); err != nil {
		return false, err
	}
	want, err := decodeValue(request["parameters"])
	if err != nil || len(h.Intent) != 1 {
		return false, err
	}
	for _, parameters := range h.Intent {
		got, err := decodeValue(parameters)
		if err != nil || !reflect.DeepEqual(got, want) {
			return false, err
		}
	}
	return true, nil
}

// decodeValue decodes a JSON value, whose numbers keep all their digits.
func decodeValue(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// members are the members of a JSON object by their exact names.
type members map[string]json.RawMessage

// member is one of them by its name, and what it is read into.
type member struct {
	name string
	into any
}

// read reads members that must be there. The error names the first that is wrong.
func (m members) read(wanted ...member) error {
	for _, of := range wanted {
		text, ok := m[of.name]
		if !ok {
			return fmt.Errorf("%s is missing", of.name)
		}
		if err := json.Unmarshal(text, of.into); err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
	}
	return nil
}

func (v *verification) read(answer []byte) (err error) {
	// Otherwise two JSON readers could read different answers from the same bytes.
	if err := strictjson.Check(answer, "answer"); err != nil {
		return err
	}
	var whole, record members
	if err := json.Unmarshal(answer, &whole); err != nil || whole["activity"] == nil {
		return errors.Join(errors.New(`not an answer: expected {"activity":…}`), err)
	}
	if err := v.activity.read(whole["activity"]); err != nil {
		return err
	}
	if err := v.activity.Result.read(member{"activity", &record}); err != nil {
		return fmt.Errorf("activity.result.%w", err)
	}
	if err := record.read(member{"result", &v.activity.Recorded}); err != nil {
		return fmt.Errorf("activity.result.activity.%w", err)
	}
	if err := v.activity.Record.read(record); err != nil {
		return fmt.Errorf("activity.result.activity.%w", err)
	}
	if v.request, err = activity.Decode(v.trust.Body); err != nil {
		return fmt.Errorf("the body of the request: %w", err)
	}
	return nil
}

func (a *answered) read(content []byte) error {
	var all members
	if err := json.Unmarshal(content, &all); err != nil {
		return err
	}
	if err := a.activityHead.read(all); err != nil {
		return fmt.Errorf("activity.%w", err)
	}
	more := []member{{"appProofs", &a.AppProofs}, {"votes", &a.Votes}, {"result", &a.Result}}
	if all["log"] != nil {
		more = append(more, member{"log", &a.Log})
	}
	if err := all.read(more...); err != nil {
		return fmt.Errorf("activity.%w", err)
	}
	return nil
}

func (v *verification) body() (string, error) {
	switch {
	case v.activity.Fingerprint != v.request.Fingerprint.String():
		return "", errors.New("this is the answer to another body")
	case v.activity.Type != v.request.Type, v.activity.OrganizationID != v.request.OrganizationID:
		return "", errors.New("type or organization are not those of the body")
	}
	for _, head := range []*activityHead{&v.activity.activityHead, &v.activity.Record} {
		same, err := head.isFor(v.trust.Body)
		if err != nil {
			return "", err
		}
		if !same {
			return "", errors.New("the intent is not that of the body")
		}
	}
	first, second := v.activity.activityHead, v.activity.Record
	first.Intent, second.Intent = nil, nil
	if !reflect.DeepEqual(first, second) {
		return "", errors.New("the record in the result is of another activity")
	}
	return "", nil
}

func (v *verification) status() (string, error) {
	if v.activity.Status != activity.StatusCompleted {
		return "", fmt.Errorf("the activity is %s", v.activity.Status)
	}
	return "", nil
}

// proof checks the first app proof, and that it is about this activity.
func (v *verification) proof() (string, error) {
	if v.trust.ProofKey == nil {
		return "no proof key was given", nil
	}
	if len(v.activity.AppProofs) == 0 {
		return "", errors.New("there is none: request it with generateAppProofs")
	}
	proven, err := activity.VerifyAppProof(v.activity.AppProofs[0], v.trust.ProofKey)
	if err == nil {
		err = v.isProof(&proven)
	}
	switch {
	case err != nil:
		return "", err
	case proven.ActivityID != v.activity.ID:
		return "", errOtherActivity
	case proven.Outcome != v.activity.Status:
		return "", fmt.Errorf("it proves that the activity is %s", proven.Outcome)
	}
	v.proven = &proven
	return "", nil
}

var errOtherActivity = errors.New("it proves another activity")

// isProof refuses a proof that is not of the request.
func (v *verification) isProof(proven *activity.AppProofPayload) error {
	switch {
	case proven.Fingerprint != v.request.Fingerprint.String():
		return errors.New("it proves the answer to another body")
	case proven.OrganizationID != v.request.OrganizationID, proven.ActivityType != v.request.Type:
		return errOtherActivity
	}
	return nil
}

const skippedUnproven = "no proof was checked"

func (v *verification) result() (string, error) {
	if v.proven == nil {
		return skippedUnproven, nil
	}
	delete(v.activity.Result, "activity") // the record, which repeats the result
	for _, shown := range []members{v.activity.Result, v.activity.Recorded} {
		if len(shown) != 1 {
			return "", fmt.Errorf("%d results, expected one", len(shown))
		}
		for _, value := range shown {
			var compact bytes.Buffer
			if err := json.Compact(&compact, value); err != nil {
				return "", err
			}
			if hexDigest(sha256.Sum256(compact.Bytes())) != v.proven.ResultDigest {
				return "", errors.New("another result was proven")
			}
		}
	}
	return "", nil
}

func (v *verification) summary() (string, error) {
	what := "transaction"
	switch v.request.Intent.(type) {
	case activity.SignTransactionIntent, activity.SignTransactionsIntent:
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		what = "message"
	default:
		return "the request has no transaction and no message", nil
	}
	if v.proven == nil {
		return skippedUnproven, nil
	}
	if len(v.trust.Chains) == 0 {
		return "no chains were given to read the " + what + " with", nil
	}
	tx, err := messages.ReadAny(v.request.Intent, v.trust.Chains, time.Now)
	if err != nil {
		return "", fmt.Errorf("the %s in the body: %w", what, err)
	}
	if summary := tx.Summary(); hexDigest(summary.Digest()) != v.proven.SummaryDigest {
		return "", fmt.Errorf("another %s was shown", what)
	}
	return "", nil
}

func (v *verification) log() (string, error) {
	carried := v.activity.Log
	if carried == nil {
		return "", errors.New("there is no proof of it: request it with generateAppProofs, from a server " +
			"that keeps a log")
	}
	encoded := []byte(carried.Proof + "\n" + carried.Checkpoint)
	leaf, err := translog.VerifyProof(encoded, v.trust.LogKey)
	if err != nil {
		return "", err
	}
	proof, err := translog.ParseProof(encoded)
	switch {
	case err != nil:
		return "", err
	case proof.Index != carried.Index:
		return "", fmt.Errorf("the proof is of leaf %d, not of leaf %d", proof.Index, carried.Index)
	case leaf.Fingerprint != v.request.Fingerprint:
		return "", errors.New("the leaf is that of another body")
	case leaf.ID != v.activity.ID, leaf.Organization != v.request.OrganizationID:
		return "", fmt.Errorf("the leaf is that of another activity, %s", plaintext.Shorten(leaf.ID, maxQuoted))
	}
	return "", nil
}

// maxQuoted is how many bytes of an answer an error quotes.
const maxQuoted = 100

func hexDigest(digest [32]byte) string { return hex.EncodeToString(digest[:]) }
