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

// connected compares the server of a new connection with that of the last one.
func (g *guard) connected(ctx context.Context, c *pgx.Conn) error {
	var found server
	err := c.QueryRow(ctx, `SELECT pg_postmaster_start_time(), oid FROM pg_database WHERE datname = current_database()`, pgx.QueryExecModeExec).
		Scan(&found.started, &found.database)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.server.database != 0 && (!g.server.started.Equal(found.started) || g.server.database != found.database) {
		g.lost.Add(1)
	}
	g.server = found
	return nil
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
	if err != nil || begun.Lease == nil || s.guard.lost.Load() == lost {
		return begun, err
	}
	err = s.guard.admit(ctx)
	if err == nil {
		err = s.marks.admit(&claim)
	}
	if err == nil && claim.Stale() {
		err = store.ErrStale
	}
	if err != nil {
		_ = s.Release(context.WithoutCancel(ctx), *begun.Lease, nil) // if it fails, the lease expires
		return store.BeginResult{}, err
	}
	return begun, nil
}
