package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// maxBatchBytes bounds the records of one statement.
const maxBatchBytes = 8 << 20

// recorder records activities, with their leaves in the logs.
type recorder struct {
	*database
	logs      *logs
	watches   *watches
	calls     *calls
	completes *batch.Writer[*completion]
}

// completion is one call of Complete.
type completion struct {
	call
	lease    store.Lease
	activity store.Activity
	recorded bool
}

func (r *recorder) Complete(ctx context.Context, lease store.Lease, activity store.Activity,
	change store.Change) error {
	activity.OrganizationID, activity.Fingerprint = lease.OrganizationID, lease.Fingerprint
	if activity.Event != nil {
		if err := activity.Event.Check(); err != nil {
			return err
		}
	}
	call := &completion{call: newCall(ctx), lease: lease, activity: activity}
	if change == nil && !activity.Bounds() && activity.Stops == nil {
		return put(r.calls, r.completes, call, &call.call, func(error) {})
	}
	err := r.watches.end(ctx, lease, func(ctx context.Context, q querier) error {
		if err := record([]*completion{call}).do(ctx, q); err != nil {
			return err
		}
		if err := call.lost(); err != nil {
			return err
		}
		return admitWaiting(ctx, q, &call.activity)
	}, r.logged(ctx, call, change))
	return call.explain(err)
}

// logged returns a change, which may be nil, followed by the leaf. The leaf comes last
// since all nodes wait for the lock of the log.
func (r *recorder) logged(ctx context.Context, c *completion, change store.Change) store.Change {
	return store.ChangeFunc(func(l store.Ledger) (refusal, err error) {
		if change != nil {
			refusal, err = change.Apply(l)
		}
		if refusal == nil && err == nil {
			err = r.logs.appendLeaves(ctx, l.(*ledger).q, leavesOf([]*completion{c}, ifRecorded))
		}
		return refusal, err
	})
}

// lost returns store.ErrLeaseLost unless the activity was recorded.
func (c *completion) lost() error {
	if !c.recorded {
		return store.ErrLeaseLost
	}
	return nil
}

// explain replaces the error of a duplicate activity id.
func (c *completion) explain(err error) error {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if ok && refused.Code == uniqueViolation && refused.TableName == "countersign_activities" {
		return fmt.Errorf("store: activity id %s is taken", c.activity.ID)
	}
	return err
}

// completeAll records a batch of activities, at most maxBatchBytes in one statement. It
// leaves out those whose caller is gone.
func (r *recorder) completeAll(all []*completion) {
	all = slices.DeleteFunc(all, (*completion).gone)
	slices.SortFunc(all, func(a, b *completion) int {
		return byRequest(a.lease.OrganizationID, b.lease.OrganizationID, &a.lease.Fingerprint, &b.lease.Fingerprint)
	})
	for len(all) > 0 {
		n, size := 1, len(all[0].activity.Data)
		for n < len(all) && size+len(all[n].activity.Data) <= maxBatchBytes {
			size += len(all[n].activity.Data)
			n++
		}
		r.completeTogether(all[:n])
		all = all[n:]
	}
}

// completeTogether records activities in one statement. If the database or a log refuses one of
// them, it records each by itself.
func (r *recorder) completeTogether(all []*completion) {
	err := r.recordTogether(all)
	refused := ofOneRow(err) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrStale) ||
		errors.Is(err, store.ErrStopped) || errors.Is(err, store.ErrMoved)
	if refused && len(all) > 1 {
		for i := range all {
			r.completeTogether(all[i : i+1])
		}
		return
	}
	for _, call := range all {
		outcome := call.explain(err)
		if err == nil {
			outcome = call.lost()
		}
		if outcome == nil {
			r.watches.wake(call.lease)
		}
		call.answer <- outcome
	}
}

// recordTogether executes one statement, or a transaction of two round trips if there are
// logs. Its error is that of store.Admit if a log may not be extended.
func (r *recorder) recordTogether(all []*completion) error {
	if !slices.ContainsFunc(all, (*completion).hasLog) {
		return r.run(context.Background(), func(ctx context.Context, q querier) error { return record(all).do(ctx, q) })
	}
	heads := logHeads{}
	return r.pipeline(context.Background(), func() []*statement {
		clear(heads)
		return []*statement{record(all), heads.locked(leavesOf(all, anyway))}
	}, func() ([]*statement, error) {
		r.logs.marks.learn(heads)
		if err := heads.admit(leavesOf(all, ifRecorded)); err != nil {
			return nil, err
		}
		return []*statement{heads.extended(leavesOf(all, ifRecorded))}, nil
	})
}

// hasLog reports whether the organization has a log: its row is locked.
func (c *completion) hasLog() bool { return c.activity.Leaf != nil || !c.activity.Sent.IsZero() }

// anyway and ifRecorded select the leaves that leavesOf returns.
func anyway(*completion) bool          { return true }
func ifRecorded(call *completion) bool { return call.recorded }

// leavesOf returns the leaves of the selected activities.
func leavesOf(all []*completion, pass func(*completion) bool) (entries []*logEntry) {
	for _, call := range all {
		if call.hasLog() && pass(call) {
			entries = append(entries, &logEntry{organization: call.lease.OrganizationID, id: call.activity.ID,
				leaf: call.activity.Leaf, of: &call.activity})
		}
	}
	return entries
}

var recordHeld = over(recording+`
	RETURNING done.n`, "done", recorded...)

// recordTold is recordHeld for activities of which some have an event.
var recordTold = over(`
	WITH recorded AS (`+recording+`
		RETURNING done.*, held.revision),
	told AS (
		INSERT INTO countersign_outbox (organization_id, id, activity, revision, at, data)
		SELECT organization_id, event_id, id, revision, event_at, event_data FROM recorded WHERE event_data IS NOT NULL)
	SELECT n FROM recorded`, "done", append(recorded, [2]string{"event_id", "text"}, [2]string{"event_at", "bigint"},
	[2]string{"event_data", "bytea"})...)

const recording = `
	UPDATE countersign_activities AS held
	SET id = done.id, submitted_by = done.submitted_by, data = done.data, keep_until = done.keep_until,
		completed_at = clock_timestamp(),
		user_id = done.user_id, type = done.type, status = done.status, waiting = done.waiting,
			revision = held.revision + 1, lease_until = '-infinity'
	FROM %s
	WHERE held.organization_id = done.organization_id AND held.fingerprint = done.fingerprint
		AND held.lease = done.lease
		AND (held.revision = 0 OR held.waiting AND held.id = done.id AND held.lease_until > '-infinity')`

// recorded are the columns of what is recorded.
var recorded = [][2]string{
	{"organization_id", "text"}, {"fingerprint", "bytea"}, {"lease", "bytea"},
	{"id", "text"}, {"submitted_by", "text"}, {"data", "bytea"}, {"keep_until", "timestamptz"},
	{"user_id", "text"}, {"type", "text"}, {"status", "text"}, {"waiting", "boolean"},
}

// record returns the statement that writes the activities whose lease still exists. It
// sets recorded in those.
func record(all []*completion) *statement {
	var (
		organizations, ids, submitters = make([]string, len(all)), make([]string, len(all)), make([]string, len(all))
		fingerprints, tokens, data     = make([][]byte, len(all)), make([][]byte, len(all)), make([][]byte, len(all))
		until                          = make([]time.Time, len(all))
		users, kinds, statuses         = make([]string, len(all)), make([]string, len(all)), make([]string, len(all))
		waiting                        = make([]bool, len(all))
	)
	for i, call := range all {
		call.recorded = false
		organizations[i], fingerprints[i], tokens[i] = call.lease.OrganizationID, call.lease.Fingerprint[:],
			call.lease.Token[:]
		ids[i], submitters[i], data[i], until[i] = call.activity.ID, call.activity.SubmittedBy, call.activity.Data,
			call.activity.KeepUntil
		users[i], kinds[i], statuses[i], waiting[i] = call.activity.User, call.activity.Type, call.activity.Status,
			call.activity.Waiting
	}
	columns := []any{organizations, fingerprints, tokens, ids, submitters, data, until, users, kinds, statuses, waiting}
	form := recordHeld
	if slices.ContainsFunc(all, func(call *completion) bool { return call.activity.Event != nil }) {
		form = recordTold // the data is null if there is no event
		eventIDs, times, events := make([]string, len(all)), make([]int64, len(all)), make([][]byte, len(all))
		for i, call := range all {
			if event := call.activity.Event; event != nil {
				eventIDs[i], times[i], events[i] = event.ID, event.At.UnixMilli(), dataOf(event)
			}
		}
		columns = append(columns, eventIDs, times, events)
	}
	sql, arguments := form.of(len(all), columns...)
	return &statement{sql, arguments,
		func(rows pgx.Rows) error {
			var n int
			_, err := pgx.ForEachRow(rows, []any{&n}, func() error {
				all[n-1].recorded = true
				return nil
			})
			return err
		}}
}

// Replace implements store.Waiter. It goes by the database's clock.
func (r *recorder) Replace(ctx context.Context, activity store.Activity, _ time.Time, change store.Change) error {
	replace := func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, `
			UPDATE countersign_activities
			SET status = $4, waiting = $5, revision = revision + 1, data = $6, keep_until = $7,
				lease_until = '-infinity'
			WHERE organization_id = $1 AND fingerprint = $2 AND waiting IS NOT FALSE AND revision = $3
				AND lease_until <= clock_timestamp()`,
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
		return r.run(ctx, replace)
	}
	if !activity.Sent.IsZero() {
		call.activity.Sent, call.activity.Of = always, nil // it is not carried out: it may be superseded, or stopped
	}
	return r.endWith(ctx, activity.OrganizationID, replace, r.logged(ctx, call, change))
}

// always is later than any acceptance.
var always = time.UnixMilli(math.MaxInt64)

// heldOrChanged returns why an activity could not be replaced.
func heldOrChanged(ctx context.Context, q querier, activity *store.Activity) error {
	held := false
	err := q.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM countersign_activities
		WHERE organization_id = $1 AND fingerprint = $2 AND waiting IS NOT FALSE AND revision = $3)`,
		activity.OrganizationID, activity.Fingerprint[:], int64(activity.Revision)).Scan(&held)
	if err == nil && held {
		return store.ErrHeld
	}
	return cmp.Or(err, store.ErrChanged)
}

// turnOfWaiting is the entry of an organization's ledger that is locked while one of its
// activities begins to wait. Its kind is before all others.
var turnOfWaiting = store.Key{}

// admitWaiting refuses an activity that would wait with too many others. Nodes take turns for
// each organization until their transactions end, so that each sees what the others recorded.
func admitWaiting(ctx context.Context, q querier, activity *store.Activity) error {
	if !activity.Bounds() {
		return nil
	}
	turns := &ledger{ctx: ctx, q: q, organization: activity.OrganizationID}
	if _, err := turns.Lock(turnOfWaiting); err != nil {
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
