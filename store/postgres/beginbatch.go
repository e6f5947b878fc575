package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// beginning is one call of Begin without a change. If it is answered without an error and without
// a lease, a row is in the way: the lease is held, or the request is recorded.
type beginning struct {
	call
	claim store.Claim
	token store.Token
	lease *store.Lease
}

// beginAlone is Begin without a change. It takes the lease of a new request in a batch
// with others; if a row is in the way, it looks at that by itself.
func (l *leases) beginAlone(ctx context.Context, claim store.Claim) (result store.BeginResult, err error) {
	if !claim.Stale() && claim.Revision == 0 {
		call := &beginning{call: newCall(ctx), claim: claim, token: store.NewToken()}
		err := put(l.calls, l.begins, call, &call.call, func(err error) {
			if err == nil && call.lease != nil {
				_ = l.Release(context.Background(), *call.lease, nil) // if it fails, the lease expires
			}
		})
		switch {
		case err != nil:
			return store.BeginResult{}, err
		case call.lease != nil:
			return store.BeginResult{Lease: call.lease}, nil
		}
	}
	err = l.run(ctx, func(ctx context.Context, q querier) (err error) {
		live := false
		if !claim.Stale() {
			result, live, err = l.look(ctx, q, claim)
		}
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !live {
			result, err = l.take(ctx, q, claim)
		}
		return err
	})
	if err != nil {
		return store.BeginResult{}, err
	}
	return result, nil
}

// beginAll takes the leases of a batch of new requests.
func (l *leases) beginAll(all []*beginning) {
	if all = slices.DeleteFunc(all, (*beginning).gone); len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b *beginning) int {
		return byRequest(a.claim.OrganizationID, b.claim.OrganizationID, &a.claim.Fingerprint, &b.claim.Fingerprint)
	})
	err := l.run(context.Background(), func(ctx context.Context, q querier) error { return takeLeases(ctx, q, all) })
	if ofOneRow(err) && len(all) > 1 {
		for _, call := range all {
			l.beginAll([]*beginning{call})
		}
		return
	}
	for _, call := range all {
		call.answer <- err
	}
}

var takeNew = over(`
	INSERT INTO countersign_activities (organization_id, fingerprint, lease, lease_until, at)
	SELECT organization_id, fingerprint, token, clock_timestamp() + ttl, at
	FROM (SELECT set_config('synchronous_commit', 'off', true)) AS asynchronous, %s
	ORDER BY n
	ON CONFLICT DO NOTHING
	RETURNING lease, lease_until`,
	"claim", [2]string{"organization_id", "text"}, [2]string{"fingerprint", "bytea"}, [2]string{"token", "bytea"},
	[2]string{"ttl", "interval"}, [2]string{"at", "bigint"})

// takeLeases takes the leases that no row is in the way of. It does not wait for locked
// rows. It does wait for rows that another transaction is inserting, in their order, so
// that no two transactions wait for each other.
//
// The transaction is committed without waiting for the disk. A crash that loses it loses
// the leases, and Complete fails.
func takeLeases(ctx context.Context, q querier, all []*beginning) error {
	organizations, fingerprints, tokens := make([]string, len(all)), make([][]byte, len(all)), make([][]byte, len(all))
	ttls, times := make([]time.Duration, len(all)), make([]int64, len(all))
	byToken := make(map[store.Token]*beginning, len(all))
	for i, call := range all {
		call.lease = nil
		organizations[i], fingerprints[i] = call.claim.OrganizationID, call.claim.Fingerprint[:]
		tokens[i], ttls[i], times[i] = call.token[:], call.claim.LeaseTTL, call.claim.At
		byToken[call.token] = call
	}
	sql, arguments := takeNew.of(len(all), organizations, fingerprints, tokens, ttls, times)
	rows, _ := q.Query(ctx, sql, arguments...) // ForEachRow has the error
	var token store.Token
	var until time.Time
	_, err := pgx.ForEachRow(rows, []any{exactly(token[:]), &until}, func() error {
		call := byToken[token]
		call.lease = &store.Lease{
			OrganizationID: call.claim.OrganizationID, Fingerprint: call.claim.Fingerprint, At: call.claim.At,
			Token: call.token, Until: until,
		}
		return nil
	})
	return err
}
