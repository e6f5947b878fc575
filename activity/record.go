package activity

import (
	"encoding/json"
	"math/big"
	"time"
)

// Record is an activity: what was asked, by which user, which votes it has, and
// what came of it. Its answer is a function of the record alone.
type Record struct {
	ID        string // UUIDv7
	Request   *Request
	Status    Status
	Result    Result   // nil unless completed, or hidden from the reader
	Failure   *Failure // of a failed activity
	Votes     []Vote   // the submitter's stamp first
	Decision  Decision // of the policy; without one only its readings
	Reading   *Reading // of an activity that waits or has waited; nil otherwise
	AppProofs []AppProof
	CreatedAt time.Time
	UpdatedAt time.Time

	// Log is the proof that the activity is in the log, if an answer carries it. It
	// is not stored.
	Log *LogProof

	// Viewer is what the answer says to one reader. It is not stored.
	Viewer Viewer
}

// Viewer is the part of an answer that depends on its reader.
type Viewer struct {
	CanApprove bool
	CanReject  bool
	Review     *Review // of an activity that waits, for the submitter and for users who could vote
}

// Selection is what a vote says.
type Selection string

// The selections of the API.
const (
	SelectionApproved Selection = "VOTE_SELECTION_APPROVED"
	SelectionRejected Selection = "VOTE_SELECTION_REJECTED"
)

// SchemeLocal is the scheme of the vote of a call without a stamp: the process
// that embeds the engine asked, and there is no signature.
const SchemeLocal = "LOCAL"

// Vote is a user's stamp on an activity. The first is the submitter's, over the
// body of the request itself. The others are requests of their own, whose bodies
// name the fingerprint of the first.
type Vote struct {
	ID         string    `json:"id"`
	UserID     string    `json:"userId"`
	UserName   string    `json:"userName"`
	UserSince  time.Time `json:"userSince"`         // zero: not known
	Credential string    `json:"credential"`        // as package stamp identifies it
	PublicKey  string    `json:"publicKey"`         // hex; of a passkey the COSE key in base64url
	Signature  string    `json:"signature"`         // hex; of a passkey the stamp's JSON text; empty if hidden or local
	Scheme     string    `json:"scheme"`            // SIGNATURE_SCHEME_…, or SchemeLocal
	Selection  Selection `json:"selection"`         //
	Message    string    `json:"message,omitempty"` // the stamped body; empty in the first vote, which is over the body of the request
	StampedAt  time.Time `json:"stampedAt"`         // timestampMs of the stamped body: its age runs from here
	CreatedAt  time.Time `json:"createdAt"`         // when it was counted
}

// Submitter returns the first vote: that of the user who sent the request.
func (r *Record) Submitter() *Vote { return &r.Votes[0] }

// MessageOf returns the bytes that a vote's stamp covers.
func (r *Record) MessageOf(vote *Vote) []byte {
	if vote.Message == "" {
		return r.Request.Body
	}
	return []byte(vote.Message)
}

// Failure is why an activity failed for good.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Decision is what a policy decided about an activity, and what descriptors said of it
// then.
type Decision struct {
	PolicyDigest string          `json:"policyDigest,omitempty"` // lower-case hex SHA-256 of the file
	Rules        []string        `json:"rules,omitempty"`        // that decided, in the order of the effects
	Charges      []Charge        `json:"charges,omitempty"`      // made with the lease
	Required     []ApprovalGroup `json:"required,omitempty"`     // demanded when it was submitted
	Reason       string          `json:"reason,omitempty"`       // why an activity with enough votes still waits

	// Readings is the digest of what descriptors said of the transaction when it was
	// decided, lower-case hex (see chains.Readings.Digest), and ReadWith has the
	// digests of the files that said it, each once. Both are empty if nothing was said.
	// Read again with those files, the transaction has a reading of that digest.
	Readings string   `json:"readings,omitempty"`
	ReadWith []string `json:"readWith,omitempty"`
}

// Charge is an amount that a limit has counted for an activity.
type Charge struct {
	Limit   string        `json:"limit"`
	Subject string        `json:"subject"`
	Amount  *big.Int      `json:"amount"` // in the smallest unit
	Max     *big.Int      `json:"max"`
	Window  time.Duration `json:"window"` // nanoseconds
}

// ApprovalGroup is a number of votes that a rule demands.
type ApprovalGroup struct {
	Rule         string        `json:"rule"`
	Count        int           `json:"count"`
	Tag          string        `json:"tag,omitempty"`
	Users        []string      `json:"users,omitempty"`
	NotSubmitter bool          `json:"notSubmitter,omitempty"`
	Passkey      bool          `json:"passkey,omitempty"`
	Within       time.Duration `json:"within,omitempty"` // nanoseconds for which a vote counts
	Missing      int           `json:"missing"`          // votes that are still needed; in a review
}

// WithoutResult returns a copy of the record without what came of it.
func (r *Record) WithoutResult() *Record {
	hidden := *r
	hidden.Result = nil
	return &hidden
}

// WithoutStamps returns a copy of the record without the signatures of the votes
// for which live returns true: reading one is not the same as holding a request
// that could be sent.
func (r *Record) WithoutStamps(live func(vote *Vote) bool) *Record {
	hidden := *r
	hidden.Votes = append([]Vote(nil), r.Votes...)
	for i := range hidden.Votes {
		if vote := &hidden.Votes[i]; live(vote) {
			vote.Signature = ""
		}
	}
	return &hidden
}

// Review is what is shown before a vote. Its texts are exactly those that
// ShownDigest commits to.
type Review struct {
	Shown         string          `json:"shown"`         // what a vote commits to: see ShownDigest
	SummaryDigest string          `json:"summaryDigest"` // lower-case hex
	Summary       string          `json:"summary"`       // canonical JSON text; its SHA-256 is SummaryDigest
	Effects       string          `json:"effects"`       // JSON text of an array
	Hazards       json.RawMessage `json:"hazards"`       // array of {name, detail, effect}
	Sentences     []string        `json:"sentences"`     // the effects in words
	KeyIDs        []string        `json:"keyIds"`        // that would sign
	Readings      string          `json:"readings"`      // JSON text of an array: what descriptors say of its calls
	PolicyDigest  string          `json:"policyDigest"`  // of the policy when it was submitted
	Rules         []string        `json:"rules"`
	Missing       []ApprovalGroup `json:"missing"` // every group that is demanded, with the votes that it still needs
	Reason        string          `json:"reason,omitempty"`
	ExpiresAt     time.Time       `json:"expiresAt"` // when the engine rejects it
}
