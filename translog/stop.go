package translog

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Stop is a mark of a log: while a log has it, nothing that its subject has a part in is
// recorded, and so nothing of that which is signed is released. A halt is one. Those of policies
// stop no request: see [PolicySubject] and [HeldSubject].
type Stop struct {
	Subject string    `json:"subject"` // whose signatures stop: empty for those of the whole organization
	By      string    `json:"by"`      // id of the user who asked for it
	Since   time.Time `json:"since"`
	Answers bool      `json:"answers,omitempty"` // what was signed before is not answered again either
	Resume  []Resumer `json:"resume,omitempty"`  // who asked to end it, if more have to
}

// Resumer is a user who asked for the end of a stop, and the credential that this was asked with.
type Resumer struct {
	User       string `json:"user"`
	Credential string `json:"credential"`
}

// MaxStops bounds how many stops of users and keys a log has, and how many policies are asked for at
// once. A stop of the organization is always possible.
const MaxStops = 64

// UserSubject returns the subject of a stop of what a user submits or approves.
func UserSubject(id string) string { return "user " + id }

// KeySubject returns the subject of a stop of what a key signs.
func KeySubject(id string) string { return "key " + id }

// PolicySubject returns the subject of the mark that a policy with a digest, in hex, may take
// effect. A log has at most one.
func PolicySubject(digest string) string { return policyPrefix + digest }

// HeldSubject returns the subject of the mark that some have asked for a policy with a digest, in hex.
func HeldSubject(digest string) string { return heldPrefix + digest }

const policyPrefix, heldPrefix = "policy ", "held policy "

// Held reports whether the mark is of a policy that some have asked for.
func (s Stop) Held() bool { return strings.HasPrefix(s.Subject, heldPrefix) }

// Halts reports whether the mark stops requests, as those of policies do not.
func (s Stop) Halts() bool { return !s.Held() && !strings.HasPrefix(s.Subject, policyPrefix) }

// parseStops parses the JSON that Encode writes, and nothing else.
func parseStops(in []byte) (stops []Stop, err error) {
	if err := json.Unmarshal(in, &stops); err != nil {
		return nil, errHead
	}
	if out := encodeStops(stops); len(stops) == 0 || !bytes.Equal(in, out) {
		return nil, errHead
	}
	return stops, nil
}

func encodeStops(stops []Stop) []byte {
	out, err := json.Marshal(stops)
	if err != nil {
		panic("translog: encoding stops: " + err.Error()) // a year after 9999
	}
	return out
}
