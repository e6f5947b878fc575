package postgres

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// leases gives out leases.
type leases struct {
	*database
	logs    *logs
	watches *watches
	calls   *calls
	begins  *batch.Writer[*beginning]
}

func (l *leases) begin(ctx context.Context, claim store.Claim,
	change store.Change) (begun store.BeginResult, err error) {
	if change == nil {
		return l.beginAlone(ctx, claim)
	}
	var refusal error
	err = l.transact(ctx, func(ctx context.Context, q querier) (err error) {
		refusal = nil
		if begun, err = l.take(ctx, q, claim); err != nil || begun.Lease == nil {
			return err
		}
		refusal, err = change.Apply(&ledger{ctx: ctx, q: q, organization: claim.OrganizationID})
		if err == nil && refusal != nil {
			err = giveBack(ctx, q, *begun.Lease)
		}
		return err
	})
	if err = cmp.Or(err, refusal); err != nil {
		return store.BeginResult{}, err
	}
	return begun, nil
}

// takeAttempts bounds how often take retries if the row that was in the way disappears
// between two statements.
const takeAttempts = 10

// take takes the lease if possible, and otherwise finds out why not.
func (l *leases) take(ctx context.Context, q querier, claim store.Claim) (begun store.BeginResult, err error) {
	if claim.Stale() {
		begun, live, err := l.look(ctx, q, claim)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !live {
			return store.BeginResult{}, store.ErrStale
		}
		return begun, err
	}
	for range takeAttempts {
		lease, err := takeLease(ctx, q, claim)
		if err == nil {
			return store.BeginResult{Lease: lease}, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return begun, err
		}
		begun, _, err = l.look(ctx, q, claim)
		if !errors.Is(err, pgx.ErrNoRows) {
			return begun, err
		}
	}
	return begun, errors.New("the lease kept changing hands: try again")
}

// takeLease takes the lease. It returns pgx.ErrNoRows if the lease is held, or if the
// request is recorded and the claim is not for carrying that activity out.
func takeLease(ctx context.Context, q querier, claim store.Claim) (*store.Lease, error) {
	lease := store.Lease{OrganizationID: claim.OrganizationID, Fingerprint: claim.Fingerprint, At: claim.At,
		Token: store.NewToken()}
	statement := `
		INSERT INTO countersign_activities AS held (organization_id, fingerprint, lease, lease_until, at)
		VALUES ($1, $2, $3, clock_timestamp() + $4, $5)
		ON CONFLICT (organization_id, fingerprint) DO UPDATE
		SET lease = $3, lease_until = clock_timestamp() + $4, at = $5
		WHERE held.revision = 0 AND held.lease_until <= clock_timestamp()
		RETURNING lease_until`
	arguments := []any{claim.OrganizationID, claim.Fingerprint[:], lease.Token[:], claim.LeaseTTL, claim.At}
	if claim.Revision != 0 {
		statement = `
		UPDATE countersign_activities SET lease = $3, lease_until = clock_timestamp() + $4
		WHERE organization_id = $1 AND fingerprint = $2 AND waiting IS NOT FALSE AND revision = $5
			AND lease_until <= clock_timestamp()
		RETURNING lease_until`
		arguments[4] = int64(claim.Revision)
	}
	err := q.QueryRow(ctx, statement, arguments...).Scan(&lease.Until)
	return &lease, err
}

// look returns the record, or how to wait for the lease and whether it is still live. It
// returns pgx.ErrNoRows if there is neither, or if the lease has just ended.
func (l *leases) look(ctx context.Context, q querier,
	claim store.Claim) (begun store.BeginResult, live bool, err error) {
	recorded, lease, err := readRow(q.QueryRow(ctx, `
		SELECT `+activityColumns+` FROM countersign_activities
		WHERE organization_id = $1 AND fingerprint = $2`, claim.OrganizationID, claim.Fingerprint[:]))
	switch {
	case claim.Revision != 0 && (errors.Is(err, pgx.ErrNoRows) || err == nil && recorded == nil):
		return begun, false, store.ErrChanged
	case err != nil:
		return begun, false, err
	case recorded != nil && !claim.Takes(recorded):
		return store.BeginResult{Recorded: recorded}, true, nil
	case recorded != nil && !lease.live:
		return begun, false, pgx.ErrNoRows
	}
	held := store.Lease{OrganizationID: claim.OrganizationID, Fingerprint: claim.Fingerprint}
	copy(held.Token[:], lease.token)
	return store.BeginResult{Wait: func(ctx context.Context) error { return l.watches.wait(ctx, held) }}, lease.live,
		nil
}

// giveBack ends a lease without a result. The row of a waiting activity stays. It returns
// store.ErrLeaseLost if the caller no longer has the lease.
func giveBack(ctx context.Context, q querier, lease store.Lease) error {
	tag, err := q.Exec(ctx, `
		WITH waits AS (
			UPDATE countersign_activities SET lease_until = '-infinity'
			WHERE organization_id = $1 AND fingerprint = $2 AND lease = $3 AND waiting IS NOT FALSE
				AND lease_until > '-infinity' RETURNING 1),
		gone AS (
			DELETE FROM countersign_activities
			WHERE organization_id = $1 AND fingerprint = $2 AND lease = $3 AND revision = 0 RETURNING 1)
		SELECT 1 FROM waits UNION ALL SELECT 1 FROM gone`, lease.OrganizationID, lease.Fingerprint[:], lease.Token[:])
	if err == nil && tag.RowsAffected() == 0 {
		err = store.ErrLeaseLost
	}
	return err
}

// Begin implements store.Store. A lease that was taken while the database may have become another
// one is checked before it is used.
func (l *leases) Begin(ctx context.Context, claim store.Claim,
	change store.Change) (begun store.BeginResult, err error) {
	defer func() {
		if errors.Is(err, store.ErrStale) {
			err = cmp.Or(l.logs.marks.refusal(&claim), err)
		}
	}()
	if err := l.admit(ctx, &claim); err != nil {
		return store.BeginResult{}, err
	}
	lost := l.guard.lost.Load()
	begun, err = l.begin(ctx, claim, change)
	if err != nil || begun.Lease == nil {
		return begun, err
	}
	if l.guard.check != nil && l.pool.shared.Load() {
		err = l.askServer(ctx)
	}
	if err == nil && l.guard.lost.Load() != lost {
		if err = l.admit(ctx, &claim); err == nil && claim.Stale() {
			err = store.ErrStale
		}
	}
	if err != nil {
		_ = l.Release(context.WithoutCancel(ctx), *begun.Lease, nil) // if it fails, the lease expires
		return store.BeginResult{}, err
	}
	return begun, nil
}

// admit admits a claim if the database is the one that was checked, and the log has no conflict.
// A stop that another node may have ended, or a move, is looked up again. It makes the claim of a request that
// an acceptance supersedes, or a stop applies to, one that takes no lease, so that the request is
// answered if it is recorded.
func (l *leases) admit(ctx context.Context, claim *store.Claim) error {
	if err := l.guard.admit(ctx); err != nil {
		return err
	}
	err := l.logs.marks.refusal(claim)
	if errors.Is(err, store.ErrStopped) || errors.Is(err, store.ErrMoved) {
		if _, err := l.logs.LogHeads(ctx, claim.OrganizationID); err != nil {
			return err
		}
		err = l.logs.marks.refusal(claim)
	}
	if (errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrStopped)) && claim.Revision == 0 {
		claim.LiveUntil = claim.Now.Add(-1)
		return nil
	}
	return err
}

// Renew implements store.Store. It goes by the database's clock.
func (l *leases) Renew(ctx context.Context, lease store.Lease, ttl time.Duration, _ time.Time) (store.Lease, error) {
	err := l.scan(ctx, &lease.Until, `
		UPDATE countersign_activities SET lease_until = clock_timestamp() + $4
		WHERE organization_id = $1 AND fingerprint = $2 AND lease = $3
			AND (revision = 0 OR waiting AND lease_until > '-infinity')
		RETURNING lease_until`, lease.OrganizationID, lease.Fingerprint[:], lease.Token[:], ttl)
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.ErrLeaseLost
	}
	return lease, err
}

func (l *leases) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	release := func(ctx context.Context, q querier) error { return giveBack(ctx, q, lease) }
	return l.watches.end(ctx, lease, release, change)
}
