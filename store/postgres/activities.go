package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// activityColumns are the columns that readRow reads.
const activityColumns = `organization_id, fingerprint, id, submitted_by, user_id, type, status, waiting, revision, data, keep_until, at,
	token, nonce, lease_until > clock_timestamp()`

// rowLease is the lease in a row.
type rowLease struct {
	token, nonce uint64
	live         bool
}

// readRow reads a row: an activity, or nil if the row is only a lease.
func readRow(row pgx.Row) (*store.Activity, rowLease, error) {
	var (
		activity                            store.Activity
		lease                               rowLease
		id, submittedBy, user, kind, status *string
		keepUntil                           *time.Time
		token, nonce, revision              int64
	)
	err := row.Scan(&activity.OrganizationID, (*hash)(&activity.Fingerprint), &id, &submittedBy, &user, &kind, &status,
		&activity.Waiting, &revision, &activity.Data, &keepUntil, &activity.At, &token, &nonce, &lease.live)
	lease.token, lease.nonce = uint64(token), uint64(nonce)
	if err != nil || id == nil {
		return nil, lease, err
	}
	if submittedBy == nil || user == nil || kind == nil || status == nil || keepUntil == nil {
		return nil, lease, fmt.Errorf("activity %s is damaged, or was written by an older version: it is recorded, but lacks one of submitted_by, user_id, type, status and keep_until", *id)
	}
	activity.ID, activity.SubmittedBy, activity.User, activity.Type, activity.Status = *id, *submittedBy, *user, *kind, *status
	activity.Revision, activity.KeepUntil = uint64(revision), *keepUntil
	return &activity, lease, nil
}

// one reads the activity that a condition selects.
func (s *Store) one(ctx context.Context, condition string, arguments ...any) (store.Activity, error) {
	var recorded *store.Activity
	err := s.run(ctx, func(ctx context.Context, q querier) (err error) {
		recorded, _, err = readRow(q.QueryRow(ctx, `SELECT `+activityColumns+` FROM countersign_activities WHERE `+condition, arguments...))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && recorded == nil {
		return store.Activity{}, store.ErrNotFound
	}
	if err != nil {
		return store.Activity{}, err
	}
	return *recorded, nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, organizationID, id string) (store.Activity, error) {
	if !isText(organizationID) || !isText(id) {
		return store.Activity{}, store.ErrNotFound
	}
	return s.one(ctx, `organization_id = $1 AND id = $2`, organizationID, id)
}

// Find implements store.Waiter.
func (s *Store) Find(ctx context.Context, organizationID string, fingerprint store.Fingerprint) (store.Activity, error) {
	if !isText(organizationID) {
		return store.Activity{}, store.ErrNotFound
	}
	recorded, err := s.one(ctx, `organization_id = $1 AND fingerprint = $2`, organizationID, fingerprint[:])
	if err == nil && !recorded.Waited() {
		return store.Activity{}, store.ErrNotFound
	}
	return recorded, err
}

// Replace implements store.Waiter. It goes by the database's clock.
func (s *Store) Replace(ctx context.Context, activity store.Activity, _ time.Time, change store.Change) error {
	replace := func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, `
			UPDATE countersign_activities
			SET status = $4, waiting = $5, revision = revision + 1, data = $6, keep_until = $7, lease_until = '-infinity'
			WHERE organization_id = $1 AND fingerprint = $2 AND waiting IS NOT FALSE AND revision = $3 AND lease_until <= clock_timestamp()`,
			activity.OrganizationID, activity.Fingerprint[:], int64(activity.Revision),
			activity.Status, activity.Waiting, activity.Data, activity.KeepUntil)
		switch {
		case err != nil:
			return err
		case tag.RowsAffected() != 1:
			return heldOrChanged(ctx, q, &activity)
		case activity.Event != nil:
			return addEvent(ctx, q, &activity)
		}
		return nil
	}
	call := &completion{lease: store.Lease{OrganizationID: activity.OrganizationID}, activity: activity, recorded: true}
	if change == nil && !call.hasLog() && activity.Event == nil {
		return s.run(ctx, replace)
	}
	if !activity.Sent.IsZero() {
		call.activity.Sent = always // it is not carried out: it may have been superseded
	}
	return s.endWith(ctx, call.lease, replace, s.logged(ctx, call, change))
}

// always is later than any acceptance.
var always = time.UnixMilli(math.MaxInt64)

// heldOrChanged returns why an activity could not be replaced.
func heldOrChanged(ctx context.Context, q querier, activity *store.Activity) error {
	held := false
	err := q.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM countersign_activities
		WHERE organization_id = $1 AND fingerprint = $2 AND waiting IS NOT FALSE AND revision = $3)`,
		activity.OrganizationID, activity.Fingerprint[:], int64(activity.Revision)).Scan(&held)
	switch {
	case err != nil:
		return err
	case held:
		return store.ErrHeld
	}
	return store.ErrChanged
}

// admitWaiting refuses an activity that would wait with too many others. Nodes take turns for
// each organization until their transactions end, so that each sees what the others recorded.
func admitWaiting(ctx context.Context, q querier, activity *store.Activity) error {
	if !activity.Bounds() {
		return nil
	}
	if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, $2))`, activity.OrganizationID, waitingLock); err != nil {
		return err
	}
	var others store.Crowd
	err := q.QueryRow(ctx, `
		SELECT count(*), count(*) FILTER (WHERE user_id = $3) FROM countersign_activities
		WHERE organization_id = $1 AND id IS NOT NULL AND waiting AND fingerprint <> $2`,
		activity.OrganizationID, activity.Fingerprint[:], activity.User).Scan(&others.OfOrganization, &others.OfUser)
	if err != nil {
		return err
	}
	return activity.Admit(others)
}

// waitingLock is the seed of the locks of organizations whose activities begin to wait: the
// first eight bytes of SHA-256("countersign waiting"), without the sign bit.
const waitingLock = int64(0x2505011bf3b2c0c1)

// Waiting implements store.Waiter.
func (s *Store) Waiting(ctx context.Context) ([]store.Activity, error) {
	return s.all(ctx, `
		SELECT organization_id, fingerprint, id, submitted_by, user_id, type, status, waiting, revision, NULL::bytea, keep_until, at, token, nonce, false
		FROM countersign_activities WHERE waiting ORDER BY organization_id, id`)
}

// all reads the activities that a statement returns.
func (s *Store) all(ctx context.Context, statement string, arguments ...any) (activities []store.Activity, err error) {
	err = s.run(ctx, func(ctx context.Context, q querier) error {
		activities = nil
		rows, err := q.Query(ctx, statement, arguments...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			activity, _, err := readRow(rows)
			if err != nil {
				return err
			}
			activities = append(activities, *activity)
		}
		return rows.Err()
	})
	return activities, err
}
