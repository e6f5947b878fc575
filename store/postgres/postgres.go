// Package postgres keeps activities and ledgers in PostgreSQL, for several nodes that share
// a database. It creates and migrates its tables, and keeps every activity forever.
//
// Leases go by the clock of the database: the clocks of the nodes do not decide who does
// the work. Concurrent calls of Begin and Complete share a statement and its commit. A
// lease is taken without waiting for the disk, unless a change comes with it: a database
// that crashes may forget it, and then refuses its Complete. Complete waits for the disk.
// With leaves for the log it takes two round trips, during which it holds the lock of the
// log; the database ends a transaction whose node goes silent.
//
// While the database cannot be reached, calls fail with store.ErrUnavailable. They work
// again as soon as it is back.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// OperationTimeout bounds each call whose context allows more: a database that does not
// answer counts as unavailable.
const OperationTimeout = 10 * time.Second

// DefaultConnections is the maximum number of connections, unless the address sets
// pool_max_conns.
const DefaultConnections = 16

// Store is a store.Store. Use Open to create one.
type Store struct {
	pool      *pool
	begins    *batch.Writer[*beginning]
	completes *batch.Writer[*completion]
	inFlight  atomic.Int64 // calls of Begin and Complete
	failed    atomic.Bool  // a write failed: Ping writes, too, until one succeeds
	watches   watches
	marks     marks
	guard     guard
	close     sync.Once
	closed    chan struct{}
}

var _ store.Full = (*Store)(nil)

// Open connects to a database and migrates its tables, which it creates in an empty schema.
// The address is a URL (postgres://user:password@host/name) or keywords and values
// ("host=… dbname=…"). In it, pool_max_conns sets the maximum number of connections,
// DefaultConnections by default, and search_path chooses another schema than the default.
// If the address names several servers, the one that can be written to is used, unless it
// sets target_session_attrs.
//
// The address may lead to a connection pooler, also one that gives a transaction any
// session that is free, as PgBouncer does with pool_mode=transaction.
func Open(ctx context.Context, dsn string) (*Store, error) { return open(ctx, dsn, true) }

// OpenExisting is Open for a schema that has the tables already. Otherwise it creates
// nothing and returns store.ErrNone.
func OpenExisting(ctx context.Context, dsn string) (*Store, error) { return open(ctx, dsn, false) }

func open(ctx context.Context, dsn string, create bool) (*Store, error) {
	s := &Store{closed: make(chan struct{}), guard: guard{turn: make(chan struct{}, 1), asking: make(chan struct{}, 1)}}
	var err error
	if s.pool, err = newPool(ctx, dsn, s.guard.compare); err != nil {
		return nil, fmt.Errorf("store: PostgreSQL address: %w", err)
	}
	if !create {
		err = s.exists(ctx)
	}
	if err == nil {
		err = s.migrate(ctx)
	}
	if err == nil || codeOf(err) == duplicateTable {
		err = s.whole(ctx, err)
	}
	if err != nil {
		s.pool.Close()
		return nil, err
	}
	gathered := batch.Options{Max: maxBatch, Gather: gather, Expected: s.expected}
	s.begins, s.completes = batch.New(gathered, s.beginAll), batch.New(gathered, s.completeAll)
	return s, nil
}

// expected returns how many calls a batch waits for: half of those in flight, since a
// request calls both Begin and Complete. Waiting for all of them, a batch would nearly
// always wait for as long as it may.
func (s *Store) expected() int { return int(s.inFlight.Load()+1) / 2 }

// Renew implements store.Store. It goes by the database's clock.
func (s *Store) Renew(ctx context.Context, lease store.Lease, ttl time.Duration, _ time.Time) (store.Lease, error) {
	err := s.run(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `
			UPDATE countersign_activities SET lease_until = clock_timestamp() + $5
			WHERE organization_id = $1 AND fingerprint = $2 AND token = $3 AND nonce = $4 AND (revision = 0 OR waiting AND lease_until > '-infinity')
			RETURNING lease_until`,
			lease.OrganizationID, lease.Fingerprint[:], int64(lease.Token), int64(lease.Nonce), ttl).Scan(&lease.Until)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.ErrLeaseLost
	}
	return lease, err
}

// Release implements store.Store.
func (s *Store) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	release := func(ctx context.Context, q querier) error { return giveBack(ctx, q, lease) }
	return s.end(ctx, lease, release, change)
}

// end ends a lease by a statement, with a change in the same transaction, and wakes the
// callers on this node that wait for the lease.
func (s *Store) end(ctx context.Context, lease store.Lease, statement work, change store.Change) error {
	var err error
	if change == nil {
		err = s.run(ctx, statement)
	} else {
		err = s.endWith(ctx, lease, statement, change)
	}
	if err == nil {
		s.watches.wake(lease)
	}
	return err
}

func (s *Store) endWith(ctx context.Context, lease store.Lease, statement work, change store.Change) error {
	var refusal error
	err := s.transact(ctx, func(ctx context.Context, q querier) (err error) {
		if err = statement(ctx, q); err != nil {
			return err
		}
		refusal, err = change.Apply(&ledger{ctx: ctx, q: q, organization: lease.OrganizationID})
		if err == nil && refusal != nil {
			err = errRollBack
		}
		return err
	})
	if errors.Is(err, errRollBack) {
		return refusal
	}
	return err
}

// isText reports whether PostgreSQL can store a string as text. Any other string equals
// no stored value, and a query for it would fail.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Change implements store.Store.
func (s *Store) Change(ctx context.Context, organizationID string, change store.Change) error {
	var refusal error
	err := s.transact(ctx, func(ctx context.Context, q querier) (err error) {
		refusal, err = change.Apply(&ledger{ctx: ctx, q: q, organization: organizationID})
		return err
	})
	if err != nil {
		return err
	}
	return refusal
}

// Sweep implements store.Sweeper. Activities stay.
func (s *Store) Sweep(ctx context.Context, now time.Time) (swept store.SweepStats, err error) {
	for _, sweep := range []struct {
		count     *int
		statement string
		argument  any
	}{
		{&swept.Leases, `DELETE FROM countersign_activities WHERE id IS NULL AND lease_until <= statement_timestamp() - $1::interval`, store.LeaseGrace},
		// The clock of one node may be fast, and must not expire entries early.
		{&swept.Entries, `DELETE FROM countersign_ledgers WHERE keep_until < least($1, statement_timestamp())`, now},
	} {
		err := s.run(ctx, func(ctx context.Context, q querier) error {
			tag, err := q.Exec(ctx, sweep.statement, sweep.argument)
			*sweep.count = int(tag.RowsAffected())
			return err
		})
		if err != nil {
			return swept, err
		}
	}
	return swept, nil
}

// Forgets implements store.Retention: it keeps activities forever.
func (s *Store) Forgets() bool { return false }

// probeSize is how many bytes Ping writes to find out whether a full disk has room again:
// more than fit into pages that PostgreSQL already has.
const probeSize = 64 << 10

// Ping implements store.Pinger. It ends a lease that does not exist, which a database that is
// read-only refuses. After a write failed because the database cannot be written to, it
// writes, so that it fails for as long as the disk is full.
func (s *Store) Ping(ctx context.Context) error {
	if !s.failed.Load() {
		err := s.run(ctx, func(ctx context.Context, q querier) error { return giveBack(ctx, q, store.Lease{}) })
		if errors.Is(err, store.ErrLeaseLost) {
			return nil
		}
		return err
	}
	probe := make([]byte, probeSize)
	_, _ = rand.Read(probe) // cannot be compressed; Read never fails
	err := s.transact(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			INSERT INTO countersign_ledgers (organization_id, key, value, keep_until)
			VALUES ('', $1, $2, '-infinity')`, probe[:32], probe)
		if err == nil {
			err = errRollBack
		}
		return err
	})
	if errors.Is(err, errRollBack) {
		s.failed.Store(false)
		return nil
	}
	return err
}

// Close implements store.Store. It waits for calls in flight.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.begins.Stop()
		s.completes.Stop()
		close(s.closed)
		s.pool.Close()
	})
	return nil
}
