package otpledger

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// State is where a code is in its life.
type State uint8

// The states. A pending code's message is being delivered: the code cannot be tried yet, and if the
// delivery never completes, it never becomes live. Used and dead are final.
const (
	StatePending State = iota + 1
	StateLive
	StateUsed
	StateDead
)

// ErrUnknown means that there is no code of the given id.
var ErrUnknown = errors.New("otp: no code of this id")

// Code is a one-time password as it is stored. It does not contain what the user
// types, only a keyed hash of it.
type Code struct {
	ID        string              `json:"id"`      // UUID
	Type      string              `json:"type"`    // an otp.Type
	Contact   string              `json:"contact"` // canonical
	Hash      [sha256.Size]byte   `json:"hash"`    // HMAC-SHA-256, bound to organization and id
	User      MeterKey            `json:"user"`    // the meters that count this code
	To        MeterKey            `json:"to"`
	State     State               `json:"state"`
	CreatedAt time.Time           `json:"createdAt"` // UTC, in milliseconds, as is ExpiresAt
	ExpiresAt time.Time           `json:"expiresAt"` // the first moment at which the code has expired
	Tried     []store.Fingerprint `json:"tried"`     // the requests that tried it, oldest first
}

// Grace is how long an expired code is kept for requests that tried it in time and
// have not completed yet.
const Grace = 10 * time.Minute

// KeepUntil returns when the code may be swept.
func (c *Code) KeepUntil() time.Time { return c.ExpiresAt.Add(Grace) }

// Try is the outcome of trying a code.
type Try uint8

// The outcomes of a try.
const (
	TryRefused  Try = iota // the code is not live, has expired, or was tried too often
	TryCounted             // the request may compare, and used up one of the code's tries
	TryRepeated            // the request may compare, and was counted before
)

// Take records that a request tries the code. At most limit different requests may.
func (c *Code) Take(by store.Fingerprint, limit int, now time.Time) Try {
	switch {
	case c.State != StateLive || !now.Before(c.ExpiresAt):
		return TryRefused
	case slices.Contains(c.Tried, by):
		return TryRepeated
	case len(c.Tried) >= limit:
		return TryRefused
	}
	c.Tried = append(slices.Clip(c.Tried), by)
	return TryCounted
}
