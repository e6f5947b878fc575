// Package otpledger keeps one-time passwords in the ledger of a store: the codes,
// and a meter for each user, contact and organization that counts towards limits.
package otpledger

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// Ledger reads and writes the codes and meters of one organization within one transaction. Meters
// are locked before codes, and the meters of a code's user and contact guard the code.
type Ledger interface {
	// Meters returns the meters in the order of the keys, and locks them until
	// the transaction ends. A meter that is not stored is empty.
	Meters(keys ...MeterKey) ([]Meter, error)

	// SetMeter replaces a meter that Meters returned.
	SetMeter(key MeterKey, meter Meter) error

	// Code returns a code without locking it, or ErrUnknown.
	Code(id string) (Code, error)

	// Insert adds a code.
	Insert(code Code) error

	// Try records a try atomically, by the rule of [Code.Take], and returns the code as it is
	// afterwards. For an unknown code it returns TryRefused and no error.
	Try(id string, by store.Fingerprint, limit int, now time.Time) (Code, Try, error)

	// Move changes the state of a code that is in state from, and reports whether it was.
	Move(id string, from, to State) (moved bool, err error)
}

// Over returns the Ledger that a store's ledger holds: each code as JSON under the
// SHA-256 of its id, each meter as [Meter.Append] encodes it.
func Over(ledger store.Ledger) Ledger { return storeLedger{ledger} }

type storeLedger struct{ store.Ledger }

func meterKey(key MeterKey) store.Key { return store.Key{Kind: store.KindMeter, ID: key} }

func codeKey(id string) store.Key {
	return store.Key{Kind: store.KindCode, ID: sha256.Sum256([]byte(id))}
}

func (l storeLedger) Meters(keys ...MeterKey) ([]Meter, error) {
	storeKeys := make([]store.Key, len(keys))
	for i, key := range keys {
		storeKeys[i] = meterKey(key)
	}
	entries, err := l.Lock(storeKeys...)
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

func (l storeLedger) SetMeter(key MeterKey, meter Meter) error {
	return l.Write(meterKey(key), store.Entry{Value: meter.Append(nil), KeepUntil: meter.KeepUntil()})
}

func (l storeLedger) Code(id string) (Code, error) {
	entry, err := l.Read(codeKey(id))
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

// Insert implements Ledger. It passes the time to stores without a clock of their
// own, which expire entries by it.
func (l storeLedger) Insert(code Code) error {
	l.Now(code.CreatedAt)
	entries, err := l.Lock(codeKey(code.ID))
	if err != nil {
		return err
	}
	if entries[0].Value != nil {
		return fmt.Errorf("otp: the id %s is taken", code.ID)
	}
	return l.put(&code)
}

func (l storeLedger) put(code *Code) error {
	value, err := json.Marshal(code)
	if err != nil {
		return err
	}
	return l.Write(codeKey(code.ID), store.Entry{Value: value, KeepUntil: code.KeepUntil()})
}

// lock locks the entry of a code, stored or not, and returns both.
func (l storeLedger) lock(id string) (Code, store.Entry, error) {
	entries, err := l.Lock(codeKey(id))
	if err != nil {
		return Code{}, store.Entry{}, err
	}
	code, err := parseCode(id, entries[0])
	return code, entries[0], err
}

// Try implements Ledger. It writes whatever the outcome, so that its duration does
// not depend on it.
func (l storeLedger) Try(id string, by store.Fingerprint, limit int, now time.Time) (Code, Try, error) {
	code, entry, err := l.lock(id)
	if err != nil && !errors.Is(err, ErrUnknown) {
		return Code{}, TryRefused, err
	}
	try := code.Take(by, limit, now)
	if try == TryCounted {
		err = l.put(&code)
	} else {
		err = l.Write(codeKey(id), entry)
	}
	if err != nil {
		return Code{}, TryRefused, err
	}
	return code, try, nil
}

func (l storeLedger) Move(id string, from, to State) (bool, error) {
	code, _, err := l.lock(id)
	if errors.Is(err, ErrUnknown) || err == nil && code.State != from {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	code.State = to
	return true, l.put(&code)
}
