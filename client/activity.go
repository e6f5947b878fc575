package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

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

// ListOptions select activities. Members that are zero do not restrict the selection.
type ListOptions struct {
	Statuses []activity.Status
	Types    []activity.Type
	Before   string // an id: only older activities
	After    string // an id: only newer activities
	Limit    int    // 1 to activity.MaxPage. Default: activity.DefaultPage
}

// listQuery is the body of list_activities.
type listQuery struct {
	OrganizationID string            `json:"organizationId"`
	Statuses       []activity.Status `json:"filterByStatus,omitempty"`
	Types          []activity.Type   `json:"filterByType,omitempty"`
	Page           pageQuery         `json:"paginationOptions"`
}

type pageQuery struct {
	Limit  string `json:"limit"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// ListActivities returns a page of the activities that the key may read, newest first. A
// page may be shorter than the limit although there are more: pass the last id as Before
// until a page is empty.
func (c *Client) ListActivities(ctx context.Context, options ListOptions) ([]*Activity, error) {
	limit := cmp.Or(options.Limit, activity.DefaultPage)
	answer, err := c.query(ctx, "list_activities", listQuery{
		c.config.OrganizationID, options.Statuses, options.Types,
		pageQuery{strconv.Itoa(limit), options.Before, options.After},
	})
	if err != nil {
		return nil, err
	}
	var whole struct {
		Activities []json.RawMessage `json:"activities"`
	}
	if err := unmarshal(answer, &whole); err != nil {
		return nil, err
	}
	page := make([]*Activity, len(whole.Activities))
	for i, raw := range whole.Activities {
		if page[i], err = ParseActivity(slices.Concat([]byte(`{"activity":`), raw, []byte(`}`))); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// FindWaiting returns the activity with the given fingerprint that waits for votes.
func (c *Client) FindWaiting(ctx context.Context, fingerprint activity.Fingerprint) (*Activity, error) {
	options := ListOptions{Statuses: []activity.Status{activity.StatusConsensusNeeded}, Limit: activity.MaxPage}
	for {
		page, err := c.ListActivities(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, activity := range page {
			if activity.Fingerprint == fingerprint.String() {
				return activity, nil
			}
		}
		if len(page) == 0 {
			return nil, fmt.Errorf("no activity with fingerprint %s waits for votes of this key's user", fingerprint)
		}
		options.Before = page[len(page)-1].ID
	}
}

// Vote votes on a waiting activity, and returns the activity after the vote. The vote commits to
// the activity's review: the caller must have looked at it, and at the body in the first vote.
func (c *Client) Vote(ctx context.Context, waiting *Activity, selection activity.Selection) (*Activity, error) {
	vote, err := waiting.Vote(selection)
	if err != nil {
		return nil, err
	}
	request, err := c.NewRequest(vote)
	if err != nil {
		return nil, err
	}
	return c.Submit(ctx, request)
}

// Vote returns the intent of a vote that commits to the activity's review. It fails if the
// digests in the review do not match its texts.
func (a *Activity) Vote(selection activity.Selection) (vote activity.VoteIntent, err error) {
	fingerprint, err := activity.ParseFingerprint(a.Fingerprint)
	if err != nil {
		return vote, err
	}
	if a.Review == nil {
		return vote, fmt.Errorf("activity %s is %s and has nothing to vote on for this user", a.ID, a.Status)
	}
	if err := a.Review.Check(); err != nil {
		return vote, err
	}
	switch selection {
	case activity.SelectionApproved:
		return activity.NewApproval(fingerprint, a.Review.Shown), nil
	case activity.SelectionRejected:
		return activity.NewRejection(fingerprint, a.Review.Shown), nil
	}
	return vote, fmt.Errorf("selection %q: use %s or %s", selection, activity.SelectionApproved, activity.SelectionRejected)
}
