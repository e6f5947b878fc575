package bolt

import (
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
)

// The buckets.
var (
	bucketMeta         = []byte("meta")
	bucketActivities   = []byte("activities")
	bucketFingerprints = []byte("fingerprints")
	bucketWaiting      = []byte("waiting")
	bucketLedgers      = []byte("ledgers")
	bucketExpiry       = []byte("expiry")
	bucketHeads        = []byte("log heads")
	bucketLeaves       = []byte("log leaves")
	bucketIndexes      = []byte("log indexes")
	keyVersion         = []byte("version")
	keyProbe           = []byte("probe")

	buckets    = [][]byte{bucketMeta, bucketActivities, bucketFingerprints, bucketWaiting, bucketLedgers, bucketExpiry}
	logBuckets = [][]byte{bucketHeads, bucketLeaves, bucketIndexes}
)

// fileVersion is the layout that this program reads and writes.
const fileVersion = 4

// layOut creates the buckets of a new file, and checks the version of an existing one and
// that it has all of them. A file from before the log gets those of the log. Without create
// it returns store.ErrNone for a file without buckets.
func layOut(f *file, create bool) error {
	var missing [][]byte
	err := f.view(func(tx *bbolt.Tx) (err error) {
		missing, err = missingBuckets(tx)
		return err
	})
	if len(missing) > len(logBuckets) && !create {
		return fmt.Errorf("%w: %s is empty", store.ErrNone, f.path)
	}
	if err != nil || len(missing) == 0 {
		return err
	}
	return f.update(func(tx *bbolt.Tx) error {
		for _, name := range missing {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(keyVersion, []byte{fileVersion})
	})
}

// missingBuckets returns the buckets to create: all, those of the log, or none.
func missingBuckets(tx *bbolt.Tx) (missing [][]byte, err error) {
	if first, _ := tx.Cursor().First(); first == nil {
		return slices.Concat(buckets, logBuckets), nil
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return nil, fmt.Errorf("the file has no bucket %q: it is damaged, or of another program", name)
		}
	}
	if version := tx.Bucket(bucketMeta).Get(keyVersion); !slices.Equal(version, []byte{fileVersion}) {
		return nil, fmt.Errorf("the file has layout version %x; this program knows %d: use the program that wrote it", version, fileVersion)
	}
	missing = slices.DeleteFunc(slices.Clone(logBuckets), func(name []byte) bool { return tx.Bucket(name) != nil })
	if len(missing) > 0 && len(missing) < len(logBuckets) {
		return nil, fmt.Errorf("the file has no bucket %q: it is damaged", missing[0])
	}
	return missing, nil
}

// transaction is one change's view of a transaction of the file.
type transaction struct {
	tx    *bbolt.Tx
	wrote bool
}

func (t *transaction) put(bucket, key, value []byte) error {
	t.get(bucket, key) // proves that it belongs here
	t.wrote = true
	return unavailable(t.tx.Bucket(bucket).Put(key, value))
}

func (t *transaction) remove(bucket, key []byte) error {
	t.get(bucket, key)
	t.wrote = true
	return unavailable(t.tx.Bucket(bucket).Delete(key))
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

// applyWhole makes a change and returns its refusal as an error.
func (t *transaction) applyWhole(organizationID string, change store.Change) error {
	refusal, err := change.Apply(t.ledger(organizationID))
	if err != nil {
		return err
	}
	return refusal
}

// record writes a new activity, or replaces the one that waited.
func (t *transaction) record(activity *store.Activity) error {
	before, err := t.recorded(activity.OrganizationID, activity.Fingerprint)
	if err != nil {
		return err
	}
	key := within(activity.OrganizationID, []byte(activity.ID))
	if before == nil && t.get(bucketActivities, key) != nil || before != nil && before.ID != activity.ID {
		return fmt.Errorf("store: activity id %s is taken", activity.ID)
	}
	activity.Revision = 1
	if before != nil {
		activity.Revision = before.Revision + 1
	}
	return t.write(activity)
}

// write writes an activity and its index entries.
func (t *transaction) write(activity *store.Activity) error {
	key := within(activity.OrganizationID, []byte(activity.ID))
	if err := t.put(bucketActivities, key, encodeActivity(activity)); err != nil {
		return err
	}
	mark := t.remove
	if activity.Waiting {
		mark = func(bucket, key []byte) error { return t.put(bucket, key, nil) }
	}
	if err := mark(bucketWaiting, key); err != nil {
		return err
	}
	if err := t.put(bucketFingerprints, within(activity.OrganizationID, activity.Fingerprint[:]), []byte(activity.ID)); err != nil {
		return err
	}
	if activity.Leaf == nil {
		return nil
	}
	return t.appendLeaf(activity.OrganizationID, activity.ID, activity.Leaf)
}

// recorded returns the recorded activity of a request, or nil.
func (t *transaction) recorded(organizationID string, fingerprint store.Fingerprint) (*store.Activity, error) {
	id := t.get(bucketFingerprints, within(organizationID, fingerprint[:]))
	if id == nil {
		return nil, nil
	}
	activity, err := t.activity(organizationID, string(id))
	if err != nil {
		return nil, fmt.Errorf("%w: the record of fingerprint %x cannot be read: %w", store.ErrUnavailable, fingerprint, err)
	}
	return &activity, nil
}

func (t *transaction) activity(organizationID, id string) (store.Activity, error) {
	value := t.get(bucketActivities, within(organizationID, []byte(id)))
	if value == nil {
		return store.Activity{}, store.ErrNotFound
	}
	activity, err := decodeActivity(value)
	if err != nil {
		return activity, fmt.Errorf("%w: activity %s: %w", store.ErrUnavailable, id, err)
	}
	activity.OrganizationID, activity.ID = organizationID, id
	return activity, nil
}
