package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// activityColumns are the columns that readRow reads.
const activityColumns = `organization_id, fingerprint, id, submitted_by, user_id, type, status, waiting, revision, data,
	keep_until, at, token, nonce, lease_until > clock_timestamp()`

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
		return nil, lease, fmt.Errorf("activity %s is damaged, or was written by an older version: it is recorded, "+
			"but lacks one of submitted_by, user_id, type, status and keep_until", *id)
	}
	activity.ID, activity.SubmittedBy, activity.User, activity.Type, activity.Status = *id, *submittedBy, *user,
		*kind, *status
	activity.Revision, activity.KeepUntil = uint64(revision), *keepUntil
	return &activity, lease, nil
}

// activities reads what is recorded.
type activities struct{ *database }

// one reads the activity that a condition selects.
func (r activities) one(ctx context.Context, condition string, arguments ...any) (store.Activity, error) {
	var recorded *store.Activity
	err := r.run(ctx, func(ctx context.Context, q querier) (err error) {
		recorded, _, err = readRow(q.QueryRow(ctx,
			`SELECT `+activityColumns+` FROM countersign_activities WHERE `+condition, arguments...))
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
func (r activities) Get(ctx context.Context, organizationID, id string) (store.Activity, error) {
	if !isText(organizationID) || !isText(id) {
		return store.Activity{}, store.ErrNotFound
	}
	return r.one(ctx, `organization_id = $1 AND id = $2`, organizationID, id)
}

// Find implements store.Waiter.
func (r activities) Find(ctx context.Context, organizationID string,
	fingerprint store.Fingerprint) (store.Activity, error) {
	if !isText(organizationID) {
		return store.Activity{}, store.ErrNotFound
	}
	recorded, err := r.one(ctx, `organization_id = $1 AND fingerprint = $2`, organizationID, fingerprint[:])
	if err == nil && !recorded.Waited() {
		return store.Activity{}, store.ErrNotFound
	}
	return recorded, err
}

// Waiting implements store.Waiter.
func (r activities) Waiting(ctx context.Context) ([]store.Activity, error) {
	return r.all(ctx, `
		SELECT organization_id, fingerprint, id, submitted_by, user_id, type, status, waiting, revision, NULL::bytea,
			keep_until, at, token, nonce, false
		FROM countersign_activities WHERE waiting ORDER BY organization_id, id`)
}

// all reads the activities that a statement returns.
func (r activities) all(ctx context.Context, statement string,
	arguments ...any) (activities []store.Activity, err error) {
	err = r.run(ctx, func(ctx context.Context, q querier) error {
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

// isText reports whether PostgreSQL can store a string as text. Any other string equals
// no stored value, and a query for it would fail.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
