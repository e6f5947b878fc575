package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign-dev/countersign/store"
)

// guard calls a check when the database may be another one than before: a connection was
// lost, or a new one leads to another server or database.
type guard struct {
	check   func(ctx context.Context) error // nil: nothing is checked
	turn    chan struct{}                   // held during the check
	lost    atomic.Uint64                   // counts occasions for a check
	checked atomic.Uint64                   // lost at the last check that passed

	mu     sync.Mutex
	server server

	asking chan struct{} // held during the question of askServer
	asked  time.Time     // when the last one that was answered began
}

// server identifies a run of a server, and the database in it.
type server struct {
	started  time.Time
	database uint32
}

// OnReconnect makes Begin call check before it takes the next lease after a connection to
// the database was lost, or a new one led to another server. While check returns an error,
// no lease is taken. Call it once, before the store is used.
func (s *Store) OnReconnect(check func(ctx context.Context) error) { s.guard.check = check }

// compare compares the server of a connection with that of the last one. It reports whether
// they differ.
func (g *guard) compare(ctx context.Context, q querier) (moved bool, err error) {
	var current server
	err = q.QueryRow(ctx, `SELECT pg_postmaster_start_time(), oid FROM pg_database WHERE datname = current_database()`, pgx.QueryExecModeExec).
		Scan(&current.started, &current.database)
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	moved = g.server.database != 0 && (!g.server.started.Equal(current.started) || g.server.database != current.database)
	if moved {
		g.lost.Add(1)
	}
	g.server = current
	return moved, nil
}

// askServer compares the server behind a connection pooler with that of the last
// connection: a pooler that leads to another server may keep its clients' connections.
// Concurrent callers share a question that is asked after all of them called.
func (s *Store) askServer(ctx context.Context) error {
	called := time.Now()
	select {
	case s.guard.asking <- struct{}{}:
		defer func() { <-s.guard.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.guard.asked.After(called) {
		return nil
	}
	began := time.Now()
	err := s.run(ctx, func(ctx context.Context, q querier) error {
		_, err := s.guard.compare(ctx, q)
		return err
	})
	if err == nil {
		s.guard.asked = began
	}
	return err
}

// noteLost counts an error after which the next connection may lead to another server.
func (g *guard) noteLost(err error) {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		if strings.HasPrefix(refused.Code, "57P") || strings.HasPrefix(refused.Code, "08") || refused.Code == readOnlyTransaction {
			g.lost.Add(1)
		}
		return
	}
	if !isOurs(err) {
		g.lost.Add(1)
	}
}

// admit returns nil if the database was checked since the last occasion.
func (g *guard) admit(ctx context.Context) error {
	if g.check == nil || g.checked.Load() == g.lost.Load() {
		return nil
	}
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	lost := g.lost.Load()
	if g.checked.Load() == lost {
		return nil
	}
	if err := g.check(ctx); err != nil {
		return unavailable(ctx, err)
	}
	g.checked.Store(lost)
	return nil
}

// beginGuarded is Begin between checks: a lease that was taken while the database may have
// become another one is checked before it is used.
func (s *Store) beginGuarded(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	if err := s.guard.admit(ctx); err != nil {
		return store.BeginResult{}, err
	}
	if err := s.marks.admit(&claim); err != nil {
		return store.BeginResult{}, err
	}
	lost := s.guard.lost.Load()
	begun, err := s.begin(ctx, claim, change)
	if err != nil || begun.Lease == nil {
		return begun, err
	}
	if s.guard.check != nil && s.pool.shared.Load() {
		err = s.askServer(ctx)
	}
	if err == nil && s.guard.lost.Load() != lost {
		err = s.admitTaken(ctx, &claim)
	}
	if err != nil {
		_ = s.Release(context.WithoutCancel(ctx), *begun.Lease, nil) // if it fails, the lease expires
		return store.BeginResult{}, err
	}
	return begun, nil
}

// admitTaken admits a claim whose lease was taken while the database may have become
// another one.
func (s *Store) admitTaken(ctx context.Context, claim *store.Claim) error {
	if err := s.guard.admit(ctx); err != nil {
		return err
	}
	if err := s.marks.admit(claim); err != nil {
		return err
	}
	if claim.Stale() {
		return store.ErrStale
	}
	return nil
}
