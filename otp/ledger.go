package otp

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"
)

// State is where a code is in its life.
type State uint8

// The states. A code is pending while its message is being delivered: it cannot
// be tried then, and if its delivery never completes it never comes alive. Used
// and dead codes stay so.
const (
	StatePending State = iota + 1
	StateLive
	StateUsed
	StateDead
)

// Fingerprint tells the request of one try from the request of another, so
// that a replayed request counts once. It is the SHA-256 of the request's body.
type Fingerprint = [sha256.Size]byte

// MeterKey names a [Meter]: a keyed hash of a user, a contact or the
// organization.
type MeterKey [sha256.Size]byte

// Code is a one-time password as it is stored. What the user types is not in
// it, only its keyed hash.
type Code struct {
	ID        string            `json:"id"` // UUID
	Type      Type              `json:"type"`
	Contact   string            `json:"contact"` // canonical
	Hash      [sha256.Size]byte `json:"hash"`    // HMAC-SHA-256, bound to organization and id
	User      MeterKey          `json:"user"`    // whose meters count it
	To        MeterKey          `json:"to"`
	State     State             `json:"state"`
	CreatedAt time.Time         `json:"createdAt"` // UTC, to the millisecond, as ExpiresAt
	ExpiresAt time.Time         `json:"expiresAt"` // dead from then on
	Tried     []Fingerprint     `json:"tried"`     // the requests that tried it, in their order
}

// Grace is how long after its expiry a code is kept for those who tried it in
// time and have not completed yet.
const Grace = 10 * time.Minute

// KeepUntil is when the code can be swept.
func (c *Code) KeepUntil() time.Time { return c.ExpiresAt.Add(Grace) }

// Try is what became of a try.
type Try uint8

// The outcomes of a try.
const (
	TryRefused  Try = iota // the code is not live, expired, or tried too often
	TryCounted             // the request may compare, and used up one of the code's tries
	TryRepeated            // the request may compare, and was counted before
)

// Take notes that a request tries the code, which at most most different
// requests may. It is what [Ledger.Try] does, for the stores that have no
// language of their own.
func (c *Code) Take(by Fingerprint, most int, now time.Time) Try {
	switch {
	case c.State != StateLive || !now.Before(c.ExpiresAt):
		return TryRefused
	case slices.Contains(c.Tried, by):
		return TryRepeated
	case len(c.Tried) >= most:
		return TryRefused
	}
	c.Tried = append(slices.Clip(c.Tried), by)
	return TryCounted
}

// Ledger is what a [Change] sees of a store: the one-time passwords of one
// organization within one transaction. Whoever needs meters asks for them
// before it touches codes, so that no two transactions wait for each other.
type Ledger interface {
	// Meters returns the meters in the order of the keys, and locks them until
	// the transaction ends. A meter that is not there is empty.
	Meters(keys ...MeterKey) ([]Meter, error)

	// SetMeter replaces a meter that Meters returned.
	SetMeter(key MeterKey, meter Meter) error

	// Code returns a code, without a lock; ErrUnknown if there is none.
	Code(id string) (Code, error)

	// Insert adds a code.
	Insert(code Code) error

	// Try notes a try in one step that no other try can come between, by the
	// rule of [Code.Take], and returns the code as it is then. An unknown code
	// is refused; it is no error.
	Try(id string, by Fingerprint, most int, now time.Time) (Code, Try, error)

	// Move sets the state of a code if it is in the state from, and tells
	// whether it was.
	Move(id string, from, to State) (moved bool, err error)
}

// Change is something that happens to the one-time passwords of an
// organization within one transaction of a store.
type Change interface {
	// Apply makes the change. With err nothing is written. With a refusal what
	// was written is kept: a wrong code is refused, and counted. It may be
	// called again if the transaction could not be made.
	Apply(ledger Ledger) (refusal, err error)
}

// Store is what a [Service] needs of a store. The stores of this project are
// more: there the change rides in the transaction of an activity.
type Store interface {
	// ChangeOTP makes a change in a transaction of its own and returns its
	// refusal or its error. A nil error means that it is durable.
	ChangeOTP(ctx context.Context, organizationID string, change Change) error
}
