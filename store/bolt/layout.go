package bolt

import (
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
)

// Versions of the layout that this program opens. It brings an older file to fileVersion,
// and from then on no older program opens it.
const (
	fileVersion  = 5
	olderVersion = 4
)

// The buckets of a file, in the order of the versions that added them.
var (
	buckets    = [][]byte{bucketMeta, bucketActivities, bucketFingerprints, bucketWaiting, bucketLedgers, bucketExpiry}
	logBuckets = [][]byte{bucketHeads, bucketLeaves, bucketIndexes}
	newBuckets = [][]byte{bucketRequests, bucketWaited, bucketListing, bucketOutbox}
)

// keyListed holds where to go on in the activities while those of an older file are being
// added to the listing. There is none once all of them are.
var keyListed = []byte("listed")

// layOut creates the buckets of a new file, checks the version of an existing one and that it
// has its buckets, and brings an older one up to date. Without create it returns store.ErrNone
// for a file without buckets.
func layOut(f *file, create bool) error {
	var missing [][]byte
	var version byte
	listed := true
	err := f.view(func(tx *bbolt.Tx) (err error) {
		missing, version, err = missingBuckets(tx)
		if err == nil && len(missing) == 0 {
			listed = tx.Bucket(bucketMeta).Get(keyListed) == nil
			f.plain = tx.Bucket(bucketMeta).Get(keyPlain) != nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if version == 0 && !create {
		return fmt.Errorf("%w: %s is empty", store.ErrNone, f.path)
	}
	if len(missing) > 0 {
		if err := f.update(func(tx *bbolt.Tx) error { return upgrade(tx, missing, version) }); err != nil {
			return err
		}
		f.plain = version == olderVersion
		listed = !f.plain
	}
	for !listed {
		if listed, err = listStep(f); err != nil {
			return err
		}
		stepped()
	}
	return nil
}

// missingBuckets returns the buckets to create, and the version, which is 0 for a file
// without buckets.
func missingBuckets(tx *bbolt.Tx) (missing [][]byte, version byte, err error) {
	if first, _ := tx.Cursor().First(); first == nil {
		return slices.Concat(buckets, logBuckets, newBuckets), 0, nil
	}
	has := func(name []byte) bool { return tx.Bucket(name) != nil }
	if i := slices.IndexFunc(buckets, func(name []byte) bool { return !has(name) }); i >= 0 {
		return nil, 0, fmt.Errorf("the file has no bucket %q: it is damaged, or of another program", buckets[i])
	}
	written := tx.Bucket(bucketMeta).Get(keyVersion)
	if len(written) != 1 || written[0] != fileVersion && written[0] != olderVersion {
		return nil, 0, fmt.Errorf("the file has layout version %x; this program knows %d and %d: use the program that wrote it", written, olderVersion, fileVersion)
	}
	version = written[0]
	groups := [][][]byte{logBuckets, newBuckets}
	for i, group := range groups {
		absent := slices.DeleteFunc(slices.Clone(group), has)
		mayLack := version == olderVersion && (len(absent) == len(group)) // the log is younger than version 4
		if len(absent) > 0 && !mayLack || version == olderVersion && i == 1 && len(absent) == 0 {
			return nil, version, fmt.Errorf("the file has another set of buckets than version %d: it is damaged", version)
		}
		missing = append(missing, absent...)
	}
	return missing, version, nil
}

// upgrade makes the file one of fileVersion. What is in it stays as it is.
func upgrade(tx *bbolt.Tx, missing [][]byte, from byte) error {
	for _, name := range missing {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	if from == olderVersion {
		if err := errors.Join(meta.Put(keyListed, []byte{0}), meta.Put(keyPlain, []byte{1})); err != nil {
			return err
		}
	}
	return meta.Put(keyVersion, []byte{fileVersion})
}

// listingStep is how many activities one transaction adds to the listing. stepped is called
// after each, by tests.
var (
	listingStep = 10_000
	stepped     = func() {}
)

// listStep adds some activities to the listing of a file that was brought up to date, and
// reports whether that was the last step. A process that is killed between two steps goes on
// when the file is opened again.
func listStep(f *file) (last bool, err error) {
	err = f.update(func(tx *bbolt.Tx) error {
		t := f.transaction(tx)
		meta := tx.Bucket(bucketMeta)
		from := slices.Clone(meta.Get(keyListed))
		w := t.walk(bucketActivities, nil, from, false)
		count := 0
		for ; w.key != nil && count < listingStep; w.next() {
			from = append(slices.Clone(w.key), 0)
			if err := t.enlist(w.key, w.value()); err != nil {
				return err
			}
			count++
		}
		if last = w.key == nil; last {
			return meta.Delete(keyListed)
		}
		return meta.Put(keyListed, from)
	})
	return last, err
}

// enlist adds an activity to the listing.
func (t *transaction) enlist(key, value []byte) error {
	activity, _, err := decodeHead(value)
	if err != nil {
		return fmt.Errorf("the activity %x: %w", key, err)
	}
	if activity.OrganizationID, activity.ID, err = splitKey(key); err != nil {
		return err
	}
	return t.put(bucketListing, listingKey(&activity), nil)
}
