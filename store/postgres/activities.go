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
	keep_until, at, lease, lease_until > clock_timestamp()`

type rowLease struct {
	token []byte
	live  bool
}

// readRow reads a row: an activity, or nil if the row is only a lease.
func readRow(row pgx.Row) (*store.Activity, rowLease, error) {
	var (
		activity                            store.Activity
		lease                               rowLease
		id, submittedBy, user, kind, status *string
		keepUntil                           *time.Time
		revision                            int64
	)
	err := row.Scan(&activity.OrganizationID, exactly(activity.Fingerprint[:]), &id, &submittedBy, &user, &kind,
		&status, &activity.Waiting, &revision, &activity.Data, &keepUntil, &activity.At, &lease.token, &lease.live)
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

// exactly scans a column of as many bytes as it has.
type exactly []byte

func (e exactly) ScanBytes(column []byte) error {
	if len(column) != len(e) {
		return fmt.Errorf("damaged: it has %d bytes, not %d", len(column), len(e))
	}
	copy(e, column)
	return nil
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

func (r activities) Get(ctx context.Context, organizationID, id string) (store.Activity, error) {
	if !isText(organizationID) || !isText(id) {
		return store.Activity{}, store.ErrNotFound
	}
	return r.one(ctx, `organization_id = $1 AND id = $2`, organizationID, id)
}

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

func (r activities) Waiting(ctx context.Context) ([]store.Activity, error) {
	return r.all(ctx, `
		SELECT organization_id, fingerprint, id, submitted_by, user_id, type, status, waiting, revision, NULL::bytea,
			keep_until, at, lease, false
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

func (r activities) List(ctx context.Context, organizationID string,
	filter store.Filter) (activities []store.Activity, err error) {
	if !isText(organizationID) || !isText(filter.Before+filter.After) {
		return nil, nil
	}
	page, arguments := pageOf(organizationID, &filter)
	order, n := ` ORDER BY id `+direction(&filter), len(arguments)
	activities, err = r.all(ctx, fmt.Sprintf(`
		WITH RECURSIVE %[1]s,
		summed AS (SELECT *, sum(octet_length(data)) OVER (%[2]s) - octet_length(data) AS earlier FROM page)
		SELECT %[3]s FROM summed WHERE earlier < $%[4]d%[2]s`, page, order, activityColumns, n+1),
		append(arguments, store.MaxListBytes)...)
	return filter.Ordered(activities), err
}

func direction(filter *store.Filter) string {
	if filter.Ascending() {
		return "ASC"
	}
	return "DESC"
}

// pageOf returns the common table expression page, with its arguments from $1 on: as many
// activities as pass a filter, up to its limit. Bounds that the filter does not have are left
// out: with "no bound, or above it" an index could not be entered at the bound.
func pageOf(organizationID string, filter *store.Filter) (expression string, arguments []any) {
	arguments = []any{organizationID, filter.Most()}
	add := func(text string, argument any) string {
		arguments = append(arguments, argument)
		return fmt.Sprintf(" AND "+text, len(arguments))
	}
	bounds, group := "", "true"
	if filter.Before != "" {
		bounds += add("id < $%d", filter.Before)
	}
	if filter.After != "" {
		bounds += add("id > $%d", filter.After)
	}
	if len(filter.Statuses) > 0 {
		group += add("status = ANY ($%d)", filter.Statuses)
	}
	if len(filter.Types) > 0 {
		group += add("type = ANY ($%d)", filter.Types)
	}
	order := fmt.Sprintf(" ORDER BY id %s LIMIT $2", direction(filter))
	switch {
	case filter.Waiting:
		bounds += " AND waiting AND " + group
	case group != "true":
		return fmt.Sprintf(byGroups, group, bounds, order), arguments
	}
	return `page AS (SELECT * FROM countersign_activities WHERE organization_id = $1 AND id IS NOT NULL` + bounds +
		order + `)`, arguments
}

// byGroups is pageOf for a filter of types or statuses: groups are those that the
// organization has, which are few, each found behind the one before it in the index of
// organization, type, status and id.
const byGroups = `groups AS (
		(SELECT type, status FROM countersign_activities
		WHERE organization_id || '' = $1 AND id IS NOT NULL ORDER BY type, status LIMIT 1)
		UNION ALL
		SELECT following.type, following.status FROM groups, LATERAL (
			SELECT type, status FROM countersign_activities
			WHERE organization_id || '' = $1 AND id IS NOT NULL AND (type, status) > (groups.type, groups.status)
			ORDER BY type, status LIMIT 1) AS following),
	passing AS (
		SELECT one.id FROM (SELECT * FROM groups WHERE %[1]s) AS wanted, LATERAL (
			SELECT id FROM countersign_activities
			WHERE organization_id || '' = $1 AND type = wanted.type AND status = wanted.status
				AND id IS NOT NULL%[2]s%[3]s) AS one%[3]s),
	page AS (SELECT one.* FROM passing, LATERAL (
		SELECT * FROM countersign_activities WHERE organization_id = $1 AND id = passing.id OFFSET 0) AS one)`

// isText reports whether PostgreSQL can store a string as text. Any other string equals
// no stored value, and a query for it would fail.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
