package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pool keeps connections to one server that can be written to. When that server refuses
// writes or shuts down, all connections to it are replaced.
//
// If a connection pooler such as PgBouncer stands in front of the database, a session is shared
// with other clients. The pool then sets nothing in it and prepares no statements: each is parsed
// and planned when it is executed, which takes about 0.1 ms of the database's processor time.
type pool struct {
	*pgxpool.Pool
	shared atomic.Bool // sessions are shared with other clients

	mu      sync.Mutex
	current *generation // of new connections; retire begins another
	retired time.Time   // when it began
}

// generation is the connections to one server. Its context ends some time after they have
// been replaced.
type generation struct {
	context.Context
	end context.CancelFunc
}

func newGeneration() *generation {
	ctx, end := context.WithCancel(context.Background())
	return &generation{ctx, end}
}

// newPool creates a pool, which connects when it is first used. moved is called with each
// new connection, and reports whether it leads to another server than the last one: then
// the others are replaced.
func newPool(ctx context.Context, dsn string, moved func(context.Context, querier) (bool, error)) (*pool, error) {
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
	// Fallbacks also has an entry for each TLS setting that is tried.
	several := slices.ContainsFunc(given.Fallbacks, func(other *pgconn.FallbackConfig) bool {
		return other.Host != given.Host || other.Port != given.Port
	})
	if given.ValidateConnect == nil && several {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	config.ConnConfig.OnNotice = noteWarning
	config.ConnConfig.OnPgError = noteError
	p := &pool{current: newGeneration()}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if p.shared.Load() && c.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
			c.DefaultQueryExecMode = pgx.QueryExecModeExec
		}
		return nil
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if err := p.prepare(ctx, c); err != nil {
			return err
		}
		elsewhere, err := moved(ctx, c)
		if elsewhere {
			data := c.PgConn().CustomData()
			p.retire(data[generationKey].(*generation))
			p.mu.Lock()
			data[generationKey] = p.current // the new connection stays
			p.mu.Unlock()
		}
		return err
	}
	p.Pool, err = pgxpool.NewWithConfig(ctx, config)
	return p, err
}

// prepare prepares a new connection. In a session of our own, the planner is to find rows
// by their keys, one by one: each statement is for a few rows, whatever the size of the table, and a
// connection keeps plans that it made when the table was empty. Before version 18, a scan that is off
// and has no alternative costs so much that the server would compile the statement (JIT). A connection
// pooler that stands between has told the client an identification of its own, not that of the
// process which serves the session now.
func (p *pool) prepare(ctx context.Context, c *pgx.Conn) error {
	p.mu.Lock()
	c.PgConn().CustomData()[generationKey] = p.current
	p.mu.Unlock()
	const settings = `SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN
		('enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit')`
	var pid uint32
	err := c.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid)
	switch {
	case err != nil:
		return err
	case pid == c.PgConn().PID() && !p.shared.Load():
		_, err = c.Exec(ctx, settings)
		return err
	case !p.shared.Swap(true):
		return errShared
	}
	return nil
}

// Keys of a connection's custom data.
const (
	generationKey = "countersign generation"
	warningKey    = "countersign warning"
	errorKey      = "countersign error"
)

// noteWarning keeps a warning for with.
func noteWarning(c *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warningKey] = notice
	}
}

// noteError keeps the first error for with: further statements of a transaction fail
// because of it, and do not say so. It reports whether the connection is still of use.
func noteError(c *pgconn.PgConn, refused *pgconn.PgError) bool {
	if c.CustomData()[errorKey] == nil {
		c.CustomData()[errorKey] = refused
	}
	return refused.SeverityUnlocalized != "FATAL"
}

// with calls do with a connection. If it fails because of the server or of the session,
// the connections are replaced; replaced reports whether the next call gets another one.
func (p *pool) with(ctx context.Context, do func(context.Context, *pgx.Conn) error) (replaced bool, err error) {
	err = p.AcquireFunc(ctx, func(pooled *pgxpool.Conn) error {
		c := pooled.Conn()
		data := c.PgConn().CustomData()
		delete(data, warningKey)
		delete(data, errorKey)
		of := data[generationKey].(*generation)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(of, stop)()
		err := do(ctx, c)
		if codeOf(err) == transactionAborted {
			err = data[errorKey].(*pgconn.PgError)
		}
		// A warning that comes with a commit may say that it no longer waits for a synchronous standby: its
		// text is in the language of the server, and its code that of any warning, or of a shutdown.
		warning, _ := data[warningKey].(*pgconn.Notice)
		if err == nil && warning != nil && (warning.Code == anyWarning || warning.Code == adminShutdown) {
			err = commitError{fmt.Errorf("committed, but perhaps not on the standby: %s", warning.Message)}
		}
		if isStatementLost(err) {
			p.shared.Store(true)
		}
		if endsSession(err, warning) {
			replaced = p.retire(of)
		}
		return err
	})
	return replaced || errors.Is(err, errShared), err
}

// endsSession reports whether the connections to the server are of no more use: it cannot
// be written to or shuts down, which it may say with a warning before the connection
// breaks, or the session has other prepared statements than ours.
func endsSession(err error, warning *pgconn.Notice) bool {
	if err == nil {
		return false
	}
	code := codeOf(err)
	if code == "" && warning != nil {
		code = warning.Code
	}
	switch code {
	case readOnlyTransaction, adminShutdown, crashShutdown, cannotConnectNow:
		return true
	}
	return isStatementLost(err)
}

// isStatementLost reports whether an error says that a prepared statement is not what this
// connection has prepared: a pooler has changed the session.
func isStatementLost(err error) bool {
	code := codeOf(err)
	return code == duplicateStatement || code == unknownStatement
}

const (
	// retireInterval bounds how often all connections are replaced while no server can be
	// written to.
	retireInterval = time.Second

	// drainTime is how long calls may still use connections that were replaced: what a
	// demoted server commits may wait for its standby, which no longer follows it.
	drainTime = 3 * time.Second
)

// retire replaces the connections of a generation, unless they have been replaced or are
// new. It reports whether they have been replaced.
func (p *pool) retire(of *generation) (replaced bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of != p.current {
		return true
	}
	if time.Since(p.retired) < retireInterval {
		return false
	}
	time.AfterFunc(drainTime, of.end)
	p.current, p.retired = newGeneration(), time.Now()
	p.Reset()
	return true
}

// DefaultConnections is the maximum number of connections, unless the address sets pool_max_conns.
const DefaultConnections = 16
