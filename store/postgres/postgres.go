// Package postgres keeps activities and ledgers in PostgreSQL, for
// several nodes that share a database. It makes its tables itself, and brings
// them up to date; it keeps every activity for ever.
//
// Leases go by the clock of the database: the clocks of the nodes do not matter
// for who does the work. Calls of Begin and Complete that come at the same time
// share a statement and its commit. A lease is taken without waiting for the
// disk, unless a change comes with it: a database that crashes may forget it, and
// then refuses its Complete. Complete waits for the disk. With leaves for the log it
// takes two round trips, in which it holds the lock of the log; the database ends a
// transaction whose node goes silent. When the database goes away, calls fail with
// store.ErrUnavailable; when it comes back, they work again.
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
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// OperationTimeout bounds each call whose context allows it more: a database
// that does not answer is as good as gone.
const OperationTimeout = 10 * time.Second

// DefaultConnections is how many connections there are at most, unless the
// address sets pool_max_conns.
const DefaultConnections = 16

// Store is a store.Store. Use Open to make one.
type Store struct {
	pool      *pgxpool.Pool
	begins    *batch.Writer[*beginning]
	completes *batch.Writer[*completion]
	underWay  atomic.Int64 // calls of Begin and Complete
	failed    atomic.Bool  // the database could not be written to; Ping writes until it can
	watches   watches
	close     sync.Once
	closed    chan struct{}
}

var _ store.Store = (*Store)(nil)

// Open connects to a database, given as a URL or as keywords and values
// (postgres://user:password@host/name, or "host=… dbname=…"; pool_max_conns
// says how many connections there may be, DefaultConnections otherwise), and brings its tables up to date.
// Another schema than the default is chosen by search_path.
func Open(ctx context.Context, dsn string) (*Store, error) {
	pool, err := newPool(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("store: PostgreSQL address: %w", err)
	}
	s := &Store{pool: pool, closed: make(chan struct{})}
	if err := s.migrate(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	gathered := batch.Options{Max: maxBatch, Gather: gather, Expected: func() int { return int(s.underWay.Load()) }}
	s.begins, s.completes = batch.New(gathered, s.beginAll), batch.New(gathered, s.completeAll)
	return s, nil
}

// newPool does not connect yet.
func newPool(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	given, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if _, ok := given.RuntimeParams["pool_max_conns"]; !ok {
		config.MaxConns = DefaultConnections
	}
	config.AfterConnect = prepareConnection
	return pgxpool.NewWithConfig(ctx, config)
}

// Renew implements store.Store. The database's clock counts, not now.
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

// end ends a lease by a statement, with the change in the same transaction, and
// wakes who waits on this node.
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

// isText reports whether PostgreSQL can hold a string as text at all. It returns
// errors for other strings, which no stored value equals.
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

// Sweep implements store.Store. Activities stay.
func (s *Store) Sweep(ctx context.Context, now time.Time) (swept store.SweepStats, err error) {
	for _, one := range []struct {
		count     *int
		statement string
		argument  any
	}{
		{&swept.Leases, `DELETE FROM countersign_activities WHERE id IS NULL AND lease_until <= statement_timestamp() - $1::interval`, store.LeaseGrace},
		// One node's clock that runs ahead must not forget for all.
		{&swept.Entries, `DELETE FROM countersign_ledgers WHERE keep_until < least($1, statement_timestamp())`, now},
	} {
		err := s.run(ctx, func(ctx context.Context, q querier) error {
			tag, err := q.Exec(ctx, one.statement, one.argument)
			*one.count = int(tag.RowsAffected())
			return err
		})
		if err != nil {
			return swept, err
		}
	}
	return swept, nil
}

// Forgets implements store.Store: it does not.
func (s *Store) Forgets() bool { return false }

// probeSize is how many bytes Ping writes to find out whether a disk that was full has
// room: more than PostgreSQL finds in the pages that it has.
const probeSize = 64 << 10

// Ping implements store.Store. It reads; after a write that failed because the
// database could not be written to, it writes too, and so says that the disk is full for
// as long as it is.
func (s *Store) Ping(ctx context.Context) error {
	if !s.failed.Load() {
		return s.run(ctx, func(ctx context.Context, q querier) error {
			_, err := q.Exec(ctx, `SELECT 1`)
			return err
		})
	}
	probe := make([]byte, probeSize)
	_, _ = rand.Read(probe) // never fails; what cannot be compressed
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

// Close implements store.Store. It waits for calls that are under way.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.begins.Stop()
		s.completes.Stop()
		close(s.closed)
		s.pool.Close()
	})
	return nil
}

// prepareConnection sets, for one connection:
//
//   - that the planner finds rows by their keys, one by one: each statement is for a few
//     rows, whatever the size of the table, and a connection keeps plans that it made
//     when the table was empty;
//   - that records, which are JSON of a few kilobytes, are compressed with lz4 where the
//     server has it: it takes a fraction of the time of pglz.
func prepareConnection(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `
		set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off;
		select set_config(name, 'lz4', false) from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)`)
	return err
}
