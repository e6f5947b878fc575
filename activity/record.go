package activity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Record is an activity: the request, its votes and its result. The answer to the request
// is a function of the record.
type Record struct {
	ID        string // UUIDv7
	Request   *Request
	Status    Status
	Result    Result   // nil unless completed, or if hidden from the reader
	Failure   *Failure // of a failed activity
	Votes     []Vote   // the submitter's stamp first
	Decision  Decision // of the policy; without a policy it has only readings
	Reading   *Reading // of an activity that waits or has waited; nil otherwise
	Did       *Did     // of a completed activity that signed something; nil otherwise
	AppProofs []AppProof
	CreatedAt time.Time
	UpdatedAt time.Time

	// Log is the proof that the activity is in the log, if the answer has one. It is not stored.
	Log *LogProof

	// Viewer is the part of the answer that depends on its reader. It is not stored.
	Viewer Viewer
}

// Viewer is what an answer tells one reader.
type Viewer struct {
	CanApprove bool
	CanReject  bool
	Review     *Review // of an activity that waits, for the submitter and for users who could vote
}

// Did is what was signed, as the engine read it then: in words, and in numbers to add up.
type Did struct {
	KeyIDs    []string    `json:"keyIds"`
	Addresses []string    `json:"addresses"`       // one of each key
	Rules     []string    `json:"rules,omitempty"` // of the policy that decided
	Effects   []DidEffect `json:"effects"`         // at most MaxDidEffects
	More      int         `json:"more,omitempty"`  // effects beyond that
}

// MaxDidEffects is how many effects a record describes.
const MaxDidEffects = 100

// DidEffect is one effect of what was signed.
type DidEffect struct {
	Sentence string `json:"sentence"`
	Kind     string `json:"kind"`
	Amount   string `json:"amount,omitempty"` // decimal, in the unit of Symbol; without a symbol in the smallest
	Bound    string `json:"bound,omitempty"`  // of an amount that is not exact: most, least, added, all, unlimited or unknown
	Symbol   string `json:"symbol,omitempty"`
	Asset    string `json:"asset,omitempty"` // chain, or chain/token
	To       string `json:"to,omitempty"`
	Change   bool   `json:"change,omitempty"` // comes back to the account or the wallet that pays
}

// Sentences returns the effects in words.
func (d *Did) Sentences() []string {
	if d == nil {
		return nil
	}
	sentences := make([]string, 0, len(d.Effects)+1)
	for i := range d.Effects {
		sentences = append(sentences, d.Effects[i].Sentence)
	}
	if d.More > 0 {
		sentences = append(sentences, fmt.Sprintf("and %d more", d.More))
	}
	return sentences
}

// State returns what became of an activity in the one word that logs, listings and exports
// use: waiting, signed, rejected, failed, or completed for one that signs nothing.
func (r *Record) State() string { return StateOf(r.Status, r.Request.Type) }

// StateOf returns the word of [Record.State] for a status and a type.
func StateOf(status Status, kind Type) string {
	switch {
	case status.Waits():
		return "waiting"
	case status == StatusRejected:
		return "rejected"
	case status == StatusFailed:
		return "failed"
	case status == StatusCompleted && kind.Signs():
		return "signed"
	}
	return "completed"
}

// LogProof proves that an activity is in the log of its organization. Proof, a newline
// and Checkpoint together are a C2SP tlog-proof, which package translog verifies.
type LogProof struct {
	Index      int64  `json:"index"`      // of the leaf
	Checkpoint string `json:"checkpoint"` // signed note, of the log whose last leaf this is
	Proof      string `json:"proof"`      // the lines of the proof and the leaf, each with its newline
}

// Selection is a vote's choice.
type Selection string

// The selections of the API.
const (
	SelectionApproved Selection = "VOTE_SELECTION_APPROVED"
	SelectionRejected Selection = "VOTE_SELECTION_REJECTED"
)

// SchemeLocal is the scheme of the vote of a call without a stamp, made by the process
// that embeds the engine, unless that says how it authenticated the user: the scheme is then
// a text such as "CERTIFICATE dns:batcher.example". Such a vote has no signature.
const SchemeLocal = "LOCAL"

// stampScheme is what the schemes of stamps begin with.
const stampScheme = "SIGNATURE_SCHEME_"

// CheckScheme refuses what cannot be the scheme of a call.
func CheckScheme(scheme string) error {
	if scheme == "" || len(scheme) > maxScheme || strings.ContainsFunc(scheme,
		func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("authentication %q: expected 1 to %d printable ASCII characters",
			plaintext.Shorten(scheme, 100), maxScheme)
	}
	if strings.HasPrefix(scheme, stampScheme) {
		return fmt.Errorf("authentication %q: %s… says that a stamp was verified", scheme, stampScheme)
	}
	return nil
}

// Vote is a user's vote on an activity. The first is the submitter's, whose stamp is over the body
// of the request. The others are requests of their own, which name the fingerprint of that body.
type Vote struct {
	ID         string    `json:"id"`
	UserID     string    `json:"userId"`
	UserName   string    `json:"userName"`
	UserSince  time.Time `json:"userSince"`         // zero if unknown
	Credential string    `json:"credential"`        // as package stamp identifies it
	PublicKey  string    `json:"publicKey"`         // hex; for a passkey the COSE key in base64url
	Signature  string    `json:"signature"`         // hex; for a passkey the stamp's JSON text; empty if hidden or local
	Scheme     string    `json:"scheme"`            // SIGNATURE_SCHEME_…, or that of a call: see SchemeLocal
	Selection  Selection `json:"selection"`         //
	Message    string    `json:"message,omitempty"` // the stamped body; empty in the first vote, where it is the request's
	StampedAt  time.Time `json:"stampedAt"`         // timestampMs of the stamped body, from which its age counts
	CreatedAt  time.Time `json:"createdAt"`         // when it was counted
}

// Stamped reports whether the vote is a stamp, and not that of a call.
func (v *Vote) Stamped() bool { return strings.HasPrefix(v.Scheme, stampScheme) }

// Submitter returns the submitter's vote, which is the first.
func (r *Record) Submitter() *Vote { return &r.Votes[0] }

// Approvers returns the names of the users who approved the activity, without the submitter.
func (r *Record) Approvers() []string {
	var names []string
	for i := range r.Votes[1:] {
		if vote := &r.Votes[i+1]; vote.Selection == SelectionApproved {
			names = append(names, vote.UserName)
		}
	}
	return names
}

// DecidedAt returns when the activity was last decided, and charged: with the last vote of
// one that waited, otherwise when it was submitted.
func (r *Record) DecidedAt() time.Time {
	if len(r.Votes) > 1 {
		return r.UpdatedAt
	}
	return r.CreatedAt
}

// Failure is why an activity failed permanently.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Decision is what a policy decided about an activity, and what descriptors said about it
// at the time.
type Decision struct {
	PolicyDigest string   `json:"policyDigest,omitempty"` // lower-case hex SHA-256 of the file
	PricesDigest string   `json:"pricesDigest,omitempty"` // of its price file, likewise
	Rules        []string `json:"rules,omitempty"`        // that decided, in the order of the effects
	Charges      []Charge `json:"charges,omitempty"`      // made with the lease
	Required     []Group  `json:"required,omitempty"`     // when it was submitted
	Reason       string   `json:"reason,omitempty"`       // why an activity with enough votes still waits

	// Readings is the digest of what descriptors said about the transaction at the
	// time, in lower-case hex (see chains.Readings.Digest). ReadWith has the digests of
	// the descriptor files, each once: with them the transaction has readings of that
	// digest. Both are empty if no descriptor applied.
	Readings string   `json:"readings,omitempty"`
	ReadWith []string `json:"readWith,omitempty"`

	// Wallets are the registered wallets that the transaction spends from or pays to.
	Wallets []RegisteredWallet `json:"wallets,omitempty"`
}

// RegisteredWallet is a Bitcoin wallet of several keys, as it was registered when a
// transaction was judged.
type RegisteredWallet struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`         // lower-case hex SHA-256 of its policy
	Leaf   string `json:"leaf,omitempty"` // id of the leaf of its registration in the log
}

// Charge is an amount that a limit has counted for an activity.
type Charge struct {
	Limit   string        `json:"limit"`
	Subject string        `json:"subject"`
	Amount  *big.Int      `json:"amount"` // in the smallest unit
	Max     *big.Int      `json:"max"`
	Window  time.Duration `json:"window"` // nanoseconds

	// Slot is the key, the network and the nonce, if the limit counts only the largest
	// charge of a nonce.
	Slot string `json:"slot,omitempty"`
}

// Group is a number of votes that a rule requires. Each user counts once in all groups of a rule.
type Group struct {
	Rule         string        `json:"rule"`
	Count        int           `json:"count"`
	Tag          string        `json:"tag,omitempty"`          // users with this tag count
	Users        []string      `json:"users,omitempty"`        // users with these ids count; without Tag and Users, all do
	NotSubmitter bool          `json:"notSubmitter,omitempty"` // the submitter's own vote does not count
	Passkey      bool          `json:"passkey,omitempty"`      // only votes by passkey count
	Within       time.Duration `json:"within,omitempty"`       // nanoseconds that a vote counts

	// Missing is how many votes it still needs, in a review or an explanation; zero in a record.
	Missing int `json:"missing"`
}

// WithoutStamps returns a copy of the record without the signatures of the votes for which
// live returns true. A reader must not obtain requests that could still be sent.
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

// Review is what a voter is shown. Its texts are exactly those that [ShownDigest] covers.
type Review struct {
	Shown         string          `json:"shown"`         // what a vote commits to: see ShownDigest
	SummaryDigest string          `json:"summaryDigest"` // lower-case hex
	Summary       string          `json:"summary"`       // canonical JSON text; its SHA-256 is SummaryDigest
	Effects       string          `json:"effects"`       // JSON text of an array
	Hazards       json.RawMessage `json:"hazards"`       // array of {name, detail, effect}
	Sentences     []string        `json:"sentences"`     // the effects in words
	KeyIDs        []string        `json:"keyIds"`        // that would sign
	Readings      string          `json:"readings"`      // JSON text of an array: what descriptors say about its calls
	PolicyDigest  string          `json:"policyDigest"`  // of the policy at submission
	Rules         []string        `json:"rules"`
	Missing       []Group         `json:"missing"`          // every required group, with the votes it still needs
	Limits        []string        `json:"limits,omitempty"` // how much it takes from each, in words
	Reason        string          `json:"reason,omitempty"`
	ExpiresAt     time.Time       `json:"expiresAt"` // when the engine rejects it
}

// Reading is the engine's reading of a transaction that waits for approvals. It is stored
// with the activity, so that what is signed is what voters were shown.
type Reading struct {
	Summary   string          `json:"summary"` // canonical JSON text
	Effects   string          `json:"effects"` // JSON text of an array
	Hazards   json.RawMessage `json:"hazards"` // array
	Sentences []string        `json:"sentences"`
	KeyIDs    []string        `json:"keyIds"`
	Readings  string          `json:"readings"` // JSON text of an array: what descriptors say about its calls
}

// Digest returns the ShownDigest of the reading.
func (r *Reading) Digest() [32]byte { return ShownDigest(r.Summary, r.Effects, r.KeyIDs, r.Readings) }

// SummaryDigest returns the digest of the summary.
func (r *Reading) SummaryDigest() [32]byte { return sha256.Sum256([]byte(r.Summary)) }

// ShownDigest returns what a vote commits to: the SHA-256 of four SHA-256 digests,
//
//	SHA-256(summary) ‖ SHA-256(key ids, joined by line feeds) ‖ SHA-256(effects) ‖ SHA-256(readings)
//
// where summary, effects and readings are the exact JSON texts of a [Review].
func ShownDigest(summary, effects string, keyIDs []string, readings string) [32]byte {
	ofSummary := sha256.Sum256([]byte(summary))
	ofKeys := sha256.Sum256([]byte(strings.Join(keyIDs, "\n")))
	ofEffects := sha256.Sum256([]byte(effects))
	ofReadings := sha256.Sum256([]byte(readings))
	return sha256.Sum256(slices.Concat(ofSummary[:], ofKeys[:], ofEffects[:], ofReadings[:]))
}

// Check returns an error if the digests of a review do not match its texts. Call it before
// showing the review to a person.
func (r *Review) Check() error {
	summary := sha256.Sum256([]byte(r.Summary))
	shown := ShownDigest(r.Summary, r.Effects, r.KeyIDs, r.Readings)
	switch {
	case r.SummaryDigest != hex.EncodeToString(summary[:]):
		return errors.New("review: summaryDigest is not the digest of summary")
	case r.Shown != hex.EncodeToString(shown[:]):
		return fmt.Errorf("review: shown is not the digest of its summary, effects, keyIds and readings, which is %x",
			shown)
	}
	return nil
}
