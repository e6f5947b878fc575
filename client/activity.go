package client

import (
	"encoding/json"
	"fmt"

	"github.com/countersign-dev/countersign/activity"
)

// Activity is an activity as the server answers it.
type Activity struct {
	ID             string                 `json:"id"`
	OrganizationID string                 `json:"organizationId"`
	Status         activity.Status        `json:"status"`
	Type           activity.Type          `json:"type"`
	Fingerprint    string                 `json:"fingerprint"` // "sha256:" and the hex SHA-256 of the body
	Result         Result                 `json:"result"`
	AppProofs      []activity.AppProof    `json:"appProofs"`
	Log            *activity.LogProof     `json:"log"` // nil unless the request asked for proofs and the engine keeps a log
	Failure        *activity.Failure      `json:"failure"`
	Votes          activity.AnsweredVotes `json:"votes"` // the submitter's first
	CreatedAt      activity.Timestamp     `json:"createdAt"`

	// CanApprove and CanReject report whether such a vote by the caller would count.
	CanApprove bool `json:"canApprove"`
	CanReject  bool `json:"canReject"`

	// Review is what to show before a vote. It is nil unless the activity waits and the
	// caller submitted it or could vote. Call Review.Check before showing it.
	Review *activity.Review `json:"review"`

	// Did is what was signed, of a completed activity that signed something. It is nil for
	// activities of servers that did not record it.
	Did *activity.Did `json:"did"`

	// Answer is the whole answer as received, {"activity":…}.
	Answer json.RawMessage `json:"-"`
}

// Result is the result of an activity. The member of its operation is set once the activity
// is completed.
type Result struct {
	SignTransaction  *activity.SignTransactionResult  `json:"signTransactionResult"`
	SignRawPayload   *activity.SignRawPayloadResult   `json:"signRawPayloadResult"`
	SignRawPayloads  *activity.SignRawPayloadsResult  `json:"signRawPayloadsResult"`
	SignTransactions *activity.SignTransactionsResult `json:"signTransactionsResult"`
	InitOTPAuth      *activity.InitOTPAuthResult      `json:"initOtpAuthResultV2"`
	InitOTPV2        *activity.InitOTPV2Result        `json:"initOtpResult"`
	InitOTPV3        *activity.InitOTPV3Result        `json:"initOtpResultV2"`
	VerifyOTP        *activity.VerifyOTPResult        `json:"verifyOtpResult"` // also of VERIFY_OTP_V2
	Halt             *activity.HaltResult             `json:"haltResult"`      // also of RESUME
}

// StatusError reports an activity that ended without a result.
type StatusError struct{ Activity *Activity }

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("activity %s is %s", e.Activity.ID, e.Activity.Status)
	if e.Activity.Failure != nil && e.Activity.Failure.Message != "" {
		text += ": " + e.Activity.Failure.Message
	}
	return text
}

// Path returns the path of an activity type below /public/v1/.
func Path(kind activity.Type) (string, error) {
	for _, operation := range activity.Operations() {
		if operation.Type == kind {
			return "submit/" + operation.Path, nil
		}
	}
	return "", fmt.Errorf("type %q has no path: use one of %v", kind, activity.Types())
}

// ParseActivity parses an answer, {"activity":…}. The activity keeps the slice.
func ParseActivity(answer []byte) (*Activity, error) {
	var whole struct {
		Activity *Activity `json:"activity"`
	}
	if err := unmarshal(answer, &whole); err != nil {
		return nil, err
	}
	if whole.Activity == nil || whole.Activity.ID == "" {
		return nil, fmt.Errorf("the answer has no activity: %.100s", answer)
	}
	whole.Activity.Answer = answer
	return whole.Activity, nil
}

func unmarshal(answer []byte, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}
