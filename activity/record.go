package activity

import "time"

// Record is a completed activity: what was asked, by whom, and what came of it.
// What it is answered with is a function of the record alone, today and when
// it is asked for again.
type Record struct {
	ID        string // UUIDv7
	Request   *Request
	Result    Result // nil: not for who asks
	Voter     Voter
	AppProofs []AppProof
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Voter is the submitter and the stamp that made the request theirs: the
// evidence that the record carries.
type Voter struct {
	VoteID     string    `json:"voteId"`
	UserID     string    `json:"userId"`
	UserName   string    `json:"userName"`
	UserSince  time.Time `json:"userSince"`  // zero: not known
	Credential string    `json:"credential"` // which of the user's credentials, as package stamp identifies it
	PublicKey  string    `json:"publicKey"`  // hex; of a passkey the COSE key in base64url
	Signature  string    `json:"signature"`  // hex; of a passkey the stamp's JSON text
	Scheme     string    `json:"scheme"`
}

// WithoutResult returns a copy of the record for who may know of the activity,
// but not what came of it.
func (r *Record) WithoutResult() *Record {
	hidden := *r
	hidden.Result = nil
	return &hidden
}

// WithoutStamp returns a copy of the record whose vote has no signature, so that
// reading it is not the same as holding a request that could be sent.
func (r *Record) WithoutStamp() *Record {
	hidden := *r
	hidden.Voter.Signature = ""
	return &hidden
}
