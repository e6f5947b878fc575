package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
)

// The buckets.
var (
	bucketMeta       = []byte("meta")
	bucketActivities = []byte("activities")
	bucketWaiting    = []byte("waiting")
	bucketLedgers    = []byte("ledgers")
	bucketExpiry     = []byte("expiry")
	bucketHeads      = []byte("log heads")
	bucketLeaves     = []byte("log leaves")
	bucketIndexes    = []byte("log indexes")
	bucketRequests   = []byte("requests")
	bucketWaited     = []byte("waited")
	bucketListing    = []byte("listing")
	bucketOutbox     = []byte("outbox")
	keyVersion       = []byte("version")
	keyProbe         = []byte("probe")
)

// transaction is a transaction of the file, which changes of several callers can share.
type transaction struct {
	tx     *bbolt.Tx
	wrote  bool   // the current change did
	err    error  // the first of a write
	change counts // of entries: see keyCounts
}

// put writes an entry. If it fails, the transaction does.
func (t *transaction) put(bucket, key, value []byte) {
	if t.get(bucket, key) == nil { // proves that it belongs here
		t.change.add(bucket, 1)
	}
	t.wrote = true
	if !bytes.Equal(bucket, bucketMeta) {
		value = seal(bucket, key, value)
	}
	t.err = cmp.Or(t.err, unavailable(t.tx.Bucket(bucket).Put(key, value)))
}

// remove removes an entry. If it fails, the transaction does.
func (t *transaction) remove(bucket, key []byte) {
	if t.get(bucket, key) != nil {
		t.change.add(bucket, -1)
	}
	t.wrote = true
	t.err = cmp.Or(t.err, unavailable(t.tx.Bucket(bucket).Delete(key)))
}

// unavailable wraps an error of the file in store.ErrUnavailable.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// within returns a key within an organization.
func within(organizationID string, rest []byte) []byte {
	key := binary.AppendUvarint(make([]byte, 0, 4+len(organizationID)+len(rest)), uint64(len(organizationID)))
	key = append(key, organizationID...)
	return append(key, rest...)
}

// applyWhole makes a change, which may be nil, and returns its refusal as an error.
func (t *transaction) applyWhole(organizationID string, change store.Change) error {
	if change == nil {
		return nil
	}
	refusal, err := change.Apply(t.ledger(organizationID))
	return cmp.Or(err, refusal)
}

// requestKey begins with the time that the body names, so that the entries of new requests
// are next to each other: they share pages, and a large file is no slower than a small one.
func requestKey(organizationID string, at int64, fingerprint store.Fingerprint) []byte {
	return within(organizationID, append(binary.BigEndian.AppendUint64(nil, uint64(at)), fingerprint[:]...))
}

// recorded returns the recorded activity of a request, or nil.
func (t *transaction) recorded(organizationID string, at int64,
	fingerprint store.Fingerprint) (*store.Activity, error) {
	id := t.get(bucketRequests, requestKey(organizationID, at, fingerprint))
	return t.named(organizationID, fingerprint, id)
}

// named returns the activity with the id under which a request was found, nil if id is nil.
func (t *transaction) named(organizationID string, fingerprint store.Fingerprint, id []byte) (*store.Activity, error) {
	if id == nil {
		return nil, nil
	}
	activity, err := t.activity(organizationID, string(id))
	if err != nil {
		return nil, fmt.Errorf("%w: the record of fingerprint %x cannot be read: %w", store.ErrUnavailable,
			fingerprint, err)
	}
	return &activity, nil
}

func (t *transaction) activity(organizationID, id string) (store.Activity, error) {
	value := t.get(bucketActivities, within(organizationID, []byte(id)))
	if value == nil {
		return store.Activity{}, store.ErrNotFound
	}
	activity, data, err := decodeHead(value)
	if err != nil {
		return activity, fmt.Errorf("%w: activity %s: %w", store.ErrUnavailable, id, err)
	}
	// It copies: the file's memory must not be used after the transaction.
	activity.OrganizationID, activity.ID, activity.Data = organizationID, id, slices.Clone(data)
	return activity, nil
}

// listingKey is organization ‖ type ‖ status ‖ id, all but the last with their lengths.
func listingKey(activity *store.Activity) []byte {
	return append(groupKey(activity.OrganizationID, activity.Type, activity.Status), activity.ID...)
}

// groupKey is what the activities of a type and a status have in common.
func groupKey(organizationID, kind, status string) []byte {
	return within(organizationID, within(kind, within(status, nil)))
}
