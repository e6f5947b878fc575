package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
)

// replaceTTL is the duration of the lease under which an activity is replaced. This
// process holds it.
const replaceTTL = time.Minute

// Replace implements store.Waiter.
func (s *Store) Replace(ctx context.Context, activity store.Activity, now time.Time, change store.Change) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if err := s.checkRevision(&activity); err != nil {
		return err
	}
	begun, err := s.leases.Take(store.Claim{OrganizationID: activity.OrganizationID, Fingerprint: activity.Fingerprint, LeaseTTL: replaceTTL, Now: now})
	switch {
	case err != nil:
		return err
	case begun.Lease == nil:
		return store.ErrHeld
	}
	defer s.leases.End(*begun.Lease)
	if err := s.leases.Pin(*begun.Lease); err != nil {
		return err
	}
	return s.writer.write(func(tx *transaction) error { return tx.replace(activity, change) }, nil)
}

// checkRevision fails early, before an expired lease is taken from its holder.
func (s *Store) checkRevision(activity *store.Activity) error {
	return s.view(func(tx *transaction) error {
		_, err := tx.atRevision(activity)
		return err
	})
}

// atRevision returns the recorded activity if it waits at the given one's revision.
func (t *transaction) atRevision(activity *store.Activity) (*store.Activity, error) {
	before, err := t.recorded(activity.OrganizationID, activity.Fingerprint)
	if err == nil && (before == nil || !before.Waiting || before.Revision != activity.Revision) {
		err = store.ErrChanged
	}
	return before, err
}

func (t *transaction) replace(activity store.Activity, change store.Change) error {
	before, err := t.atRevision(&activity)
	if err != nil {
		return err
	}
	if !activity.Sent.IsZero() {
		if err := t.admit(activity.OrganizationID, time.Time{}); err != nil {
			return err
		}
	}
	if change != nil {
		if err := t.applyWhole(activity.OrganizationID, change); err != nil {
			return err
		}
	}
	activity.ID, activity.SubmittedBy, activity.User, activity.Type = before.ID, before.SubmittedBy, before.User, before.Type
	activity.Revision++
	return t.write(&activity)
}

// Find implements store.Waiter.
func (s *Store) Find(ctx context.Context, organizationID string, fingerprint store.Fingerprint) (store.Activity, error) {
	if err := s.usable(ctx); err != nil {
		return store.Activity{}, err
	}
	var found *store.Activity
	err := s.view(func(tx *transaction) (err error) {
		found, err = tx.recorded(organizationID, fingerprint)
		return err
	})
	if err == nil && found == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Activity{}, err
	}
	return *found, nil
}

// List implements store.Lister.
func (s *Store) List(ctx context.Context, organizationID string, filter store.Filter) (found []store.Activity, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	err = s.view(func(tx *transaction) error {
		found, err = tx.list(organizationID, &filter, slices.Clone[[]byte])
		return err
	})
	return filter.Ordered(found), err
}

// CountWaiting implements store.Waiter.
func (s *Store) CountWaiting(ctx context.Context, organizationID, user string) (count int, err error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	filter := store.Filter{User: user, Waiting: true, Limit: store.MaxList}
	err = s.view(func(tx *transaction) error {
		found, err := tx.list(organizationID, &filter, func([]byte) []byte { return nil })
		count = len(found)
		return err
	})
	return count, err
}

// list returns the activities of an organization that pass a filter. keep returns what
// the result keeps of the data.
func (t *transaction) list(organizationID string, filter *store.Filter, keep func(data []byte) []byte) (found []store.Activity, err error) {
	bucket := bucketActivities
	if filter.Waiting {
		bucket = bucketWaiting
	}
	prefix := within(organizationID, nil)
	key, next := t.seek(bucket, prefix, filter)
	size := 0
	for ; bytes.HasPrefix(key, prefix) && !filter.Full(len(found), size); key = next() {
		id := string(key[len(prefix):])
		activity, data, err := decodeHead(t.get(bucketActivities, key))
		if err != nil {
			return nil, fmt.Errorf("%w: activity %s: %w", store.ErrUnavailable, id, err)
		}
		activity.OrganizationID, activity.ID = organizationID, id
		if filter.Holds(&activity) {
			activity.Data = keep(data)
			size += len(activity.Data)
			found = append(found, activity)
		}
	}
	return found, nil
}

// seek returns the first key that can pass the filter, and the function that returns the
// next one.
func (t *transaction) seek(bucket, prefix []byte, filter *store.Filter) (key []byte, next func() []byte) {
	cursor := t.tx.Bucket(bucket).Cursor()
	if filter.Ascending() {
		start := append(slices.Clone(prefix), filter.After...)
		t.get(bucket, start) // proves that nothing is left out before it
		key, _ = cursor.Seek(start)
		return key, func() []byte { key, _ := cursor.Next(); return key }
	}
	end := endOf(prefix, filter.Before)
	t.get(bucket, end)
	return before(cursor, end), func() []byte { key, _ := cursor.Prev(); return key }
}

// endOf returns the end of the keys of a prefix that are less than an ID, or of all if the
// ID is empty.
func endOf(prefix []byte, id string) []byte {
	end := append(slices.Clone(prefix), id...)
	if id == "" {
		end = append(end, bytes.Repeat([]byte{0xff}, 2)...) // IDs are UTF-8
	}
	return end
}

// before moves to the last key before end.
func before(cursor *bbolt.Cursor, end []byte) []byte {
	key, _ := cursor.Seek(end)
	if key == nil {
		key, _ = cursor.Last()
		return key
	}
	key, _ = cursor.Prev()
	return key
}

// Waiting implements store.Waiter.
func (s *Store) Waiting(ctx context.Context) (found []store.Activity, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	err = s.view(func(tx *transaction) error {
		return tx.tx.Bucket(bucketWaiting).ForEach(func(key, _ []byte) error {
			activity, _, err := decodeHead(tx.get(bucketActivities, key))
			if err != nil {
				return fmt.Errorf("%w: a waiting activity: %w", store.ErrUnavailable, err)
			}
			length, n := binary.Uvarint(key)
			if n <= 0 || length > uint64(len(key)-n) {
				return fmt.Errorf("%w: the key %x of a waiting activity is damaged", store.ErrUnavailable, key)
			}
			activity.OrganizationID, activity.ID = string(key[n:n+int(length)]), string(key[n+int(length):])
			found = append(found, activity)
			return nil
		})
	})
	return found, err
}
