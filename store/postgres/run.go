package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// database is a pool of connections to a database, with what is known about it.
type database struct {
	pool   *pool
	guard  guard
	failed atomic.Bool // a write failed: Ping writes, too, until one succeeds
	closed chan struct{}
}

// attempts bounds how often work is repeated whose connection broke before it could take effect.
const attempts = 5

// run does work of single statements, each a transaction of its own.
func (db *database) run(ctx context.Context, do work) error {
	return db.repeat(ctx, OperationTimeout, func(ctx context.Context, c *pgx.Conn) error { return do(ctx, c) })
}

// scan scans the only row of a statement.
func (db *database) scan(ctx context.Context, to any, sql string, arguments ...any) error {
	return db.run(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, sql, arguments...).Scan(to)
	})
}

// transact does work in one transaction, at the level of isolation that is the server's default.
func (db *database) transact(ctx context.Context, do work) error {
	return db.transactIn(ctx, OperationTimeout, do)
}

func (db *database) transactIn(ctx context.Context, limit time.Duration, do work) error {
	return db.repeat(ctx, limit, func(ctx context.Context, c *pgx.Conn) error { return inTransaction(ctx, c, do) })
}

// silenceLimit is how long a transaction waits for its node before the database ends it.
// Otherwise a node that was suspended or lost power would hold locks of rows and logs
// until its connection breaks, which can take hours.
var silenceLimit = OperationTimeout

// silentFor returns the statement that sets that limit for one transaction.
func silentFor(limit time.Duration) string {
	return fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", limit.Milliseconds())
}

// inTransaction does work in one transaction, once.
func inTransaction(ctx context.Context, c *pgx.Conn, do work) error {
	done := false
	options := pgx.TxOptions{BeginQuery: "begin; " + silentFor(silenceLimit)}
	err := pgx.BeginTxFunc(ctx, c, options, func(tx pgx.Tx) error {
		err := do(ctx, tx)
		done = err == nil
		return err
	})
	if done && err != nil {
		return commitError{err}
	}
	return err
}

// repeat calls do with a connection until it succeeds, has or may have had an effect, or
// fails for a reason that will not go away at once. What the database rolled back in favor of
// another transaction is repeated for as long as there is time.
func (db *database) repeat(ctx context.Context, limit time.Duration, do func(context.Context, *pgx.Conn) error) error {
	select {
	case <-db.closed:
		return store.ErrClosed
	default:
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for attempt := 1; ; attempt++ {
		replaced, err := db.pool.with(bounded, do)
		if err == nil {
			return nil
		}
		code := codeOf(err)
		if code == diskFull || code == ioError || code == readOnlyTransaction {
			db.failed.Store(true) // the disk is full or broken, or the server is a standby or read-only
		}
		if ctx.Err() == nil { // otherwise pgx closed the connection for a caller that is gone
			db.guard.noteLost(err)
		}
		switch {
		case code == serializationFailure || code == deadlockDetected: // rolled back in favor of another transaction
			// At random, and longer after more attempts, so that they do not meet again.
			select {
			case <-time.After(rand.N(time.Millisecond << min(attempt, mostDoublings))):
			case <-bounded.Done():
			}
		case attempt >= attempts || !hadNoEffect(err, replaced):
			return unavailable(ctx, err)
		}
		if bounded.Err() != nil {
			return unavailable(ctx, err)
		}
	}
}

// mostDoublings bounds the pause before work is repeated, to 128 ms.
const mostDoublings = 7

// pipeline executes a transaction in two round trips: first the statements of first, then
// those of second, which is called after first's rows have been read, and the commit. If
// second returns an error, the transaction is rolled back. It may call both again.
func (db *database) pipeline(ctx context.Context, first func() []*statement,
	second func() ([]*statement, error)) error {
	return db.repeat(ctx, OperationTimeout, func(ctx context.Context, c *pgx.Conn) error {
		defer func() {
			if !c.IsClosed() && c.PgConn().TxStatus() != noTransaction {
				_, _ = c.Exec(ctx, "rollback") // if it fails, the pool closes the connection
			}
		}()
		begin := []*statement{{sql: "begin", read: nothingRead}, {sql: silentFor(silenceLimit), read: nothingRead}}
		if err := send(ctx, c, append(begin, first()...)); err != nil {
			return err
		}
		rest, err := second()
		if err != nil {
			return err
		}
		err = send(ctx, c, append(rest, &statement{sql: "commit", read: committed}))
		if err != nil && c.PgConn().TxStatus() != failedTransaction {
			return commitError{err} // the commit was sent, not skipped because of an earlier error
		}
		return err
	})
}

// send executes statements in one round trip. If one fails, the rest are skipped.
func send(ctx context.Context, c *pgx.Conn, statements []*statement) error {
	batch := &pgx.Batch{}
	for _, queued := range statements {
		batch.Queue(queued.sql, queued.arguments...).Query(queued.read)
	}
	return c.SendBatch(ctx, batch).Close()
}

// committed reads the answer to a commit, which is ROLLBACK if the transaction had failed.
func committed(rows pgx.Rows) error {
	rows.Close()
	if tag := rows.CommandTag().String(); rows.Err() == nil && tag != "COMMIT" {
		return fmt.Errorf("the commit was answered %q", tag)
	}
	return rows.Err()
}

// States of a connection (PostgreSQL's manual, message formats, ReadyForQuery).
const (
	noTransaction     = 'I'
	failedTransaction = 'E'
)

// OperationTimeout bounds each call whose context allows more: a database that does not
// answer counts as unavailable.
const OperationTimeout = 10 * time.Second

// askServer compares the server behind a connection pooler with that of the last
// connection: a pooler that leads to another server may keep its clients' connections.
// Concurrent callers share a question that is asked after all of them called.
func (db *database) askServer(ctx context.Context) error {
	called := time.Now()
	select {
	case db.guard.asking <- struct{}{}:
		defer func() { <-db.guard.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if db.guard.asked.After(called) {
		return nil
	}
	began := time.Now()
	err := db.run(ctx, func(ctx context.Context, q querier) error {
		_, err := db.guard.compare(ctx, q)
		return err
	})
	if err == nil {
		db.guard.asked = began
	}
	return err
}
