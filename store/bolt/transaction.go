package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/countersign-dev/countersign/store"
)

// The buckets.
var (
	bucketMeta         = []byte("meta")
	bucketActivities   = []byte("activities")
	bucketFingerprints = []byte("fingerprints")
	bucketLedgers      = []byte("ledgers")
	bucketExpiry       = []byte("expiry")
	bucketHeads        = []byte("log heads")
	bucketLeaves       = []byte("log leaves")
	bucketIndexes      = []byte("log indexes")
	keyVersion         = []byte("version")
	keyProbe           = []byte("probe")
)

// fileVersion is the layout that this program writes. It brings older ones up to
// date: version 1 had one-time passwords, minutes old at most, in buckets of their
// own, which are dropped; version 2 had no log.
const fileVersion = 3

// layOut makes the buckets of a new file, checks the version of an old one, and
// brings it up to date.
func layOut(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	version := meta.Get(keyVersion)
	switch {
	case slices.Equal(version, []byte{1}):
		for _, name := range [][]byte{[]byte("codes"), []byte("meters"), bucketExpiry} {
			if err := tx.DeleteBucket(name); err != nil && !errors.Is(err, bbolterrors.ErrBucketNotFound) {
				return err
			}
		}
	case version != nil && !slices.Equal(version, []byte{2}) && !slices.Equal(version, []byte{fileVersion}):
		return fmt.Errorf("the file has layout version %x; this program knows %d: use a newer program", version, fileVersion)
	}
	for _, name := range [][]byte{bucketActivities, bucketFingerprints, bucketLedgers, bucketExpiry, bucketHeads, bucketLeaves, bucketIndexes} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return meta.Put(keyVersion, []byte{fileVersion})
}

// transaction is one change's view of a transaction of the file.
type transaction struct {
	tx    *bbolt.Tx
	wrote bool
}

func (t *transaction) get(bucket, key []byte) []byte { return t.tx.Bucket(bucket).Get(key) }

func (t *transaction) put(bucket, key, value []byte) error {
	t.wrote = true
	return unavailable(t.tx.Bucket(bucket).Put(key, value))
}

func (t *transaction) remove(bucket, key []byte) error {
	t.wrote = true
	return unavailable(t.tx.Bucket(bucket).Delete(key))
}

// unavailable is what an error of the file is to who uses the store.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// within is the key of something of an organization.
func within(organizationID string, rest []byte) []byte {
	key := binary.AppendUvarint(make([]byte, 0, 4+len(organizationID)+len(rest)), uint64(len(organizationID)))
	key = append(key, organizationID...)
	return append(key, rest...)
}

// applyWhole makes a change to which a refusal is an error like any other.
func (t *transaction) applyWhole(organizationID string, change store.Change) error {
	refusal, err := change.Apply(t.ledger(organizationID))
	if err != nil {
		return err
	}
	return refusal
}

// record writes a completed activity.
func (t *transaction) record(activity *store.Activity) error {
	key := within(activity.OrganizationID, []byte(activity.ID))
	if t.get(bucketActivities, key) != nil {
		return fmt.Errorf("store: activity id %s is taken", activity.ID)
	}
	if err := t.put(bucketActivities, key, encodeActivity(activity)); err != nil {
		return err
	}
	if err := t.put(bucketFingerprints, within(activity.OrganizationID, activity.Fingerprint[:]), []byte(activity.ID)); err != nil {
		return err
	}
	if activity.Leaf == nil {
		return nil
	}
	_, err := t.appendLeaf(activity.OrganizationID, activity.ID, activity.Leaf)
	return err
}

// recorded returns the completed activity of a request, or nil.
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

// activityVersion is the first byte of an encoded activity.
const activityVersion = 1

// encodeActivity: version 1 ‖ fingerprint 32 ‖ keepUntil 8 ‖ uvarint, submittedBy ‖ data.
func encodeActivity(activity *store.Activity) []byte {
	out := make([]byte, 0, 1+32+8+3+len(activity.SubmittedBy)+len(activity.Data))
	out = append(out, activityVersion)
	out = append(out, activity.Fingerprint[:]...)
	out = binary.BigEndian.AppendUint64(out, uint64(activity.KeepUntil.UnixMilli()))
	out = binary.AppendUvarint(out, uint64(len(activity.SubmittedBy)))
	out = append(out, activity.SubmittedBy...)
	return append(out, activity.Data...)
}

// decodeActivity copies: the file's memory is not ours after the transaction.
func decodeActivity(in []byte) (activity store.Activity, err error) {
	if len(in) < 1+32+8+1 || in[0] != activityVersion {
		return activity, errors.New("the record is damaged, or written by a newer program")
	}
	copy(activity.Fingerprint[:], in[1:33])
	activity.KeepUntil = time.UnixMilli(int64(binary.BigEndian.Uint64(in[33:41]))).UTC()
	length, n := binary.Uvarint(in[41:])
	rest := in[41+max(n, 0):]
	if n <= 0 || length > uint64(len(rest)) {
		return activity, errors.New("the record is damaged: its lengths do not fit")
	}
	activity.SubmittedBy = string(rest[:length])
	activity.Data = slices.Clone(rest[length:])
	return activity, nil
}
