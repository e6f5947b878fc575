package otp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/store"
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
// requests may.
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

// Ledger is a store's ledger as one-time passwords use it: the codes and the
// meters of one organization within one transaction. Meters are locked before
// codes; every code is guarded by the meters of its user and its contact.
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

	// Move sets the state of a code if it is in the state from, and reports
	// whether it was.
	Move(id string, from, to State) (moved bool, err error)
}

// change is something that happens to one-time passwords within a transaction;
// refusal and err are those of a store.Change.
type change interface {
	Apply(ledger Ledger) (refusal, err error)
}

// stored is a change as a store makes it.
type stored struct{ change }

// Apply implements store.Change.
func (s stored) Apply(ledger store.Ledger) (refusal, err error) { return s.change.Apply(Over(ledger)) }

// Over returns the one-time passwords in a store's ledger.
func Over(ledger store.Ledger) Ledger { return passwords{ledger} }

// passwords keeps a code as JSON under SHA-256 of its id, and a meter as
// Meter.Append has it.
type passwords struct{ store.Ledger }

func meterKey(key MeterKey) store.Key { return store.Key{Kind: store.KindMeter, ID: key} }

func codeKey(id string) store.Key {
	return store.Key{Kind: store.KindCode, ID: sha256.Sum256([]byte(id))}
}

// Meters implements Ledger.
func (p passwords) Meters(keys ...MeterKey) ([]Meter, error) {
	named := make([]store.Key, len(keys))
	for i, key := range keys {
		named[i] = meterKey(key)
	}
	entries, err := p.Lock(named...)
	if err != nil {
		return nil, err
	}
	meters := make([]Meter, len(keys))
	for i := range entries {
		if meters[i], err = ParseMeter(entries[i].Value); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
	}
	return meters, nil
}

// SetMeter implements Ledger.
func (p passwords) SetMeter(key MeterKey, meter Meter) error {
	return p.Write(meterKey(key), store.Entry{Value: meter.Append(nil), KeepUntil: meter.KeepUntil()})
}

// Code implements Ledger.
func (p passwords) Code(id string) (Code, error) {
	entry, err := p.Read(codeKey(id))
	if err != nil {
		return Code{}, err
	}
	return parseCode(id, entry)
}

func parseCode(id string, entry store.Entry) (code Code, err error) {
	if entry.Value == nil {
		return code, ErrUnknown
	}
	if err := json.Unmarshal(entry.Value, &code); err != nil {
		return Code{}, fmt.Errorf("%w: one-time password %s: %w", store.ErrUnavailable, id, err)
	}
	return code, nil
}

// Insert implements Ledger. It tells a store without a clock the time, which
// forgets by it.
func (p passwords) Insert(code Code) error {
	p.Now(code.CreatedAt)
	entries, err := p.Lock(codeKey(code.ID))
	if err != nil {
		return err
	}
	if entries[0].Value != nil {
		return fmt.Errorf("otp: the id %s is taken", code.ID)
	}
	return p.put(&code)
}

func (p passwords) put(code *Code) error {
	value, err := json.Marshal(code)
	if err != nil {
		return err
	}
	return p.Write(codeKey(code.ID), store.Entry{Value: value, KeepUntil: code.KeepUntil()})
}

// locked returns a code and locks it, whether it is there or not.
func (p passwords) locked(id string) (Code, store.Entry, error) {
	entries, err := p.Lock(codeKey(id))
	if err != nil {
		return Code{}, store.Entry{}, err
	}
	code, err := parseCode(id, entries[0])
	return code, entries[0], err
}

// Try implements Ledger. It writes whatever the outcome, so that the time it
// takes does not depend on it.
func (p passwords) Try(id string, by Fingerprint, most int, now time.Time) (Code, Try, error) {
	code, entry, err := p.locked(id)
	if err != nil && !errors.Is(err, ErrUnknown) {
		return Code{}, TryRefused, err
	}
	try := code.Take(by, most, now)
	if try == TryCounted {
		err = p.put(&code)
	} else {
		err = p.Write(codeKey(id), entry)
	}
	if err != nil {
		return Code{}, TryRefused, err
	}
	return code, try, nil
}

// Move implements Ledger.
func (p passwords) Move(id string, from, to State) (bool, error) {
	code, _, err := p.locked(id)
	if errors.Is(err, ErrUnknown) || err == nil && code.State != from {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	code.State = to
	return true, p.put(&code)
}

// Store is what a [Service] needs of a store.Store. With an engine, a change
// rides in the transaction of an activity.
type Store interface {
	// Change makes a change in a transaction of its own and returns its refusal
	// or its error. A nil error means that it is durable.
	Change(ctx context.Context, organizationID string, change store.Change) error
}
