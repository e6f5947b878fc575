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
	"sync"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// Store is a store.Store. Use Open to create one.
type Store struct {
	*database
	activities
	outbox
	*logs
	*leases
	*recorder
	close sync.Once
}

var _ store.Full = (*Store)(nil)

// Open connects to a database and migrates its tables, which it creates in an empty schema. The
// address is a URL (postgres://user:password@host/name) or keywords and values ("host=… dbname=…").
// In it, pool_max_conns sets the maximum number of connections, DefaultConnections by default, and
// search_path chooses another schema than the default. If the address names several servers, the
// one that can be written to is used, unless it sets target_session_attrs.
//
// The address may lead to a connection pooler, also one that gives a transaction any
// session that is free, as PgBouncer does with pool_mode=transaction.
func Open(ctx context.Context, dsn string) (*Store, error) { return open(ctx, dsn, true) }

// OpenExisting is Open for a schema that has the tables already. Otherwise it creates
// nothing and returns store.ErrNone.
func OpenExisting(ctx context.Context, dsn string) (*Store, error) { return open(ctx, dsn, false) }

func open(ctx context.Context, dsn string, create bool) (*Store, error) {
	db := &database{closed: make(chan struct{}), guard: guard{turn: make(chan struct{}, 1),
		asking: make(chan struct{}, 1), node: store.NewToken()}}
	var err error
	if db.pool, err = newPool(ctx, dsn, db.guard.compare); err != nil {
		return nil, fmt.Errorf("store: PostgreSQL address: %w", err)
	}
	if err = migrate(ctx, db, create); err == nil {
		err = proveLocks(ctx, db)
	}
	if err != nil {
		db.pool.Close()
		return nil, err
	}
	logs, watches, calls := &logs{database: db}, &watches{database: db}, &calls{}
	s := &Store{
		database: db, activities: activities{db}, outbox: outbox{db}, logs: logs,
		leases:   &leases{database: db, logs: logs, watches: watches, calls: calls},
		recorder: &recorder{database: db, logs: logs, watches: watches, calls: calls},
	}
	gathered := batch.Options{Max: maxBatch, Gather: gather, Expected: calls.expected}
	s.begins, s.completes = batch.New(gathered, s.beginAll), batch.New(gathered, s.completeAll)
	return s, nil
}

// Sweep implements store.Sweeper. Activities stay.
func (s *Store) Sweep(ctx context.Context, now time.Time) (swept store.SweepStats, err error) {
	swept.Leases, err = s.remove(ctx, `DELETE FROM countersign_activities
		WHERE id IS NULL AND lease_until <= statement_timestamp() - $1::interval`, store.LeaseGrace)
	if err == nil {
		// The clock of one node may be fast, and must not expire entries early.
		swept.Entries, err = s.remove(ctx,
			`DELETE FROM countersign_ledgers WHERE keep_until < least($1, statement_timestamp())`, now)
	}
	return swept, err
}

// remove executes a statement that removes rows, and returns how many.
func (s *Store) remove(ctx context.Context, sql string, argument any) (rows int, err error) {
	err = s.run(ctx, func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, sql, argument)
		rows = int(tag.RowsAffected())
		return err
	})
	return rows, err
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
