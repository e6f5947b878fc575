package activity

import (
	"encoding/json"
	"strconv"
	"time"
)

// AnsweredVotes are the votes in an answer. They have no more than an answer shows: neither
// the credential, nor when the body was stamped.
type AnsweredVotes []Vote

// UnmarshalJSON reads the form of an answer, which is not that of a [Record].
func (a *AnsweredVotes) UnmarshalJSON(text []byte) error {
	var votes []struct {
		ID     string `json:"id"`
		UserID string `json:"userId"`
		User   struct {
			Name string `json:"userName"`
		} `json:"user"`
		Selection Selection `json:"selection"`
		Message   string    `json:"message"`
		PublicKey string    `json:"publicKey"`
		Signature string    `json:"signature"`
		Scheme    string    `json:"scheme"`
		CreatedAt Timestamp `json:"createdAt"`
	}
	if err := json.Unmarshal(text, &votes); err != nil {
		return err
	}
	*a = make(AnsweredVotes, len(votes))
	for i := range votes {
		vote := &votes[i]
		(*a)[i] = Vote{
			ID: vote.ID, UserID: vote.UserID, UserName: vote.User.Name, Selection: vote.Selection, Message: vote.Message,
			PublicKey: vote.PublicKey, Signature: vote.Signature, Scheme: vote.Scheme, CreatedAt: vote.CreatedAt.Time(),
		}
	}
	return nil
}

// Timestamp is a time in an answer. Both members are decimal.
type Timestamp struct {
	Seconds string `json:"seconds"` // since the epoch
	Nanos   string `json:"nanos"`
}

// Time returns the time, or zero if it is malformed.
func (t Timestamp) Time() time.Time {
	seconds, err := strconv.ParseInt(t.Seconds, 10, 64)
	nanos, nanosErr := strconv.ParseInt(t.Nanos, 10, 64)
	if err != nil || nanosErr != nil {
		return time.Time{}
	}
	return time.Unix(seconds, nanos).UTC()
}
