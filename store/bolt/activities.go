package bolt

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// replaceTTL is the duration of the lease under which an activity is replaced. This
// process holds it.
const replaceTTL = time.Minute

func (s *Store) Replace(ctx context.Context, activity store.Activity, now time.Time, change store.Change) error {
	// Fail early, before an expired lease is taken from its holder.
	err := s.view(ctx, func(tx *transaction) error {
		_, err := tx.atRevision(&activity)
		return err
	})
	if err != nil {
		return err
	}
	begun, err := s.leases.Take(store.Claim{OrganizationID: activity.OrganizationID,
		Fingerprint: activity.Fingerprint, LeaseTTL: replaceTTL, Now: now})
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
	return s.write(ctx, func(tx *transaction) error { return tx.replace(activity, change) })
}

// atRevision returns the recorded activity if it waits at the given one's revision.
func (t *transaction) atRevision(activity *store.Activity) (*store.Activity, error) {
	before, err := t.recorded(activity.OrganizationID, activity.At, activity.Fingerprint)
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
		if err := t.admit(activity.OrganizationID, time.Time{}, nil); err != nil {
			return err
		}
	}
	if err := t.applyWhole(activity.OrganizationID, change); err != nil {
		return err
	}
	activity.ID, activity.SubmittedBy, activity.User, activity.Type = before.ID, before.SubmittedBy, before.User,
		before.Type
	activity.At = before.At
	activity.Revision++
	return t.write(&activity, before)
}

func (s *Store) Find(ctx context.Context, organizationID string,
	fingerprint store.Fingerprint) (store.Activity, error) {
	var recorded *store.Activity
	err := s.view(ctx, func(tx *transaction) (err error) {
		id := tx.get(bucketWaited, within(organizationID, fingerprint[:]))
		recorded, err = tx.named(organizationID, fingerprint, id)
		return err
	})
	if err == nil && (recorded == nil || !recorded.Waited()) {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Activity{}, err
	}
	return *recorded, nil
}

func (s *Store) Waiting(ctx context.Context) (activities []store.Activity, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		return tx.eachWaiting(nil, func(activity *store.Activity) { activities = append(activities, *activity) })
	})
	return activities, err
}

// eachWaiting calls use with the activities that wait, without data.
func (t *transaction) eachWaiting(prefix []byte, use func(*store.Activity)) error {
	for w := t.walk(bucketWaiting, prefix, prefix, false); w.key != nil; w.next() {
		activity, _, err := decodeHead(t.get(bucketActivities, w.key))
		if err == nil {
			var id []byte
			activity.OrganizationID, id, err = cutText(w.key)
			activity.ID = string(id)
		}
		if err != nil {
			return fmt.Errorf("%w: a waiting activity: %w", store.ErrUnavailable, err)
		}
		use(&activity)
	}
	return nil
}

// admitWaiting refuses an activity that would wait with too many others.
func (t *transaction) admitWaiting(activity *store.Activity) error {
	if !activity.Bounds() {
		return nil
	}
	var others store.Crowd
	err := t.eachWaiting(within(activity.OrganizationID, nil),
		func(other *store.Activity) { others.Count(activity, other) })
	if err != nil {
		return err
	}
	return activity.Admit(others)
}
