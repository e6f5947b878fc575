package postgres

import (
	"bytes"
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

	unstarted atomic.Bool  // the server does not say when it started
	node      store.Token  // names this node's row
	mark      *store.Token // the last that was written there

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
func (db *database) OnReconnect(check func(ctx context.Context) error) { db.guard.check = check }

// compare compares the server of a connection with that of the last one. It reports whether
// they differ.
func (g *guard) compare(ctx context.Context, q querier) (moved bool, err error) {
	if g.unstarted.Load() {
		return g.compareMark(ctx, q)
	}
	var current server
	const question = `SELECT pg_postmaster_start_time(), oid FROM pg_database WHERE datname = current_database()`
	err = q.QueryRow(ctx, question, pgx.QueryExecModeExec).Scan(&current.started, &current.database)
	if codeOf(err) == undefinedFunction {
		g.unstarted.Store(true)
		return g.compareMark(ctx, q)
	}
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	moved = g.server.database != 0 && (!g.server.started.Equal(current.started) ||
		g.server.database != current.database)
	if moved {
		g.lost.Add(1)
	}
	g.server = current
	return moved, nil
}

// compareMark compares the mark of this node in the database with the last that it has written, and
// writes another: any other than that is of another database, or of an earlier state of this one.
// Without the tables, or in a database that is read-only, there is nothing to compare.
func (g *guard) compareMark(ctx context.Context, q querier) (moved bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var found []byte
	next := store.NewToken()
	err = q.QueryRow(ctx, `
		INSERT INTO countersign_ledgers (organization_id, key, value, keep_until)
		VALUES ('', $1, $2, clock_timestamp() + interval '1 day')
		ON CONFLICT (organization_id, key) DO UPDATE SET value = excluded.value, keep_until = excluded.keep_until
		RETURNING (SELECT value FROM countersign_ledgers WHERE organization_id = '' AND key = $1)`,
		pgx.QueryExecModeExec, g.node[:], next[:]).Scan(&found)
	if code := codeOf(err); code == undefinedTable || code == readOnlyTransaction {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	moved = g.mark != nil && !bytes.Equal(found, g.mark[:])
	if moved {
		g.lost.Add(1)
	}
	g.mark = &next
	return moved, nil
}

// noteLost counts an error after which the next connection may lead to another server.
func (g *guard) noteLost(err error) {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		if strings.HasPrefix(refused.Code, "57P") || strings.HasPrefix(refused.Code, "08") ||
			refused.Code == readOnlyTransaction {
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
