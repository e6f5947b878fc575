package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign-dev/countersign/store"
)

// querier is a connection or a transaction.
type querier interface {
	Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row
}

type work func(ctx context.Context, q querier) error

// attempts bounds how often work is repeated that the database rolled back in favor of
// another transaction, or whose connection broke before it could take effect.
const attempts = 5

// run does work of single statements, each a transaction of its own.
func (s *Store) run(ctx context.Context, do work) error {
	return s.repeat(ctx, func(ctx context.Context, c *pgx.Conn) error { return do(ctx, c) })
}

// transact does work in one transaction.
func (s *Store) transact(ctx context.Context, do work) error {
	return s.repeat(ctx, func(ctx context.Context, c *pgx.Conn) error { return inTransaction(ctx, c, do) })
}

// silenceLimit is how long a transaction waits for its node before the database ends it.
// Otherwise a node that was suspended or lost power would hold locks of rows and logs
// until its connection breaks, which can take hours.
var silenceLimit = OperationTimeout

// setSilenceLimit returns the statement that sets silenceLimit for one transaction.
func setSilenceLimit() string {
	return fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", silenceLimit.Milliseconds())
}

// inTransaction does work in one transaction, once.
func inTransaction(ctx context.Context, c *pgx.Conn, do work) error {
	done := false
	options := pgx.TxOptions{BeginQuery: "begin; " + setSilenceLimit()}
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

// commitError is an error of the commit itself: the database may have committed.
type commitError struct{ error }

// Unwrap returns the error of the commit.
func (e commitError) Unwrap() error { return e.error }

// repeat calls do with a connection until it succeeds, has or may have had an effect, or
// fails for a reason that will not go away at once.
func (s *Store) repeat(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
	}
	bounded, cancel := context.WithTimeout(ctx, OperationTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		replaced, err := s.pool.with(bounded, do)
		if err == nil {
			return nil
		}
		if cannotWrite(err) {
			s.failed.Store(true)
		}
		if ctx.Err() == nil { // otherwise pgx closed the connection for a caller that is gone
			s.guard.noteLost(err)
		}
		if attempt == attempts || bounded.Err() != nil || !hadNoEffect(err, replaced) {
			return unavailable(ctx, err)
		}
	}
}

// Codes of PostgreSQL's errors (appendix A of its manual).
const (
	anyWarning            = "01000"
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
	cannotConnectNow      = "57P03"
	uniqueViolation       = "23505"
	readOnlyTransaction   = "25006"
	transactionAborted    = "25P02"
	unknownStatement      = "26000"
	noSchema              = "3F000"
	insufficientPrivilege = "42501"
	duplicateStatement    = "42P05"
	duplicateTable        = "42P07"
	diskFull              = "53100"
	ioError               = "58030"
)

// codeOf returns the code of the database's error, or "" if it is another error.
func codeOf(err error) string {
	refused, _ := errors.AsType[*pgconn.PgError](err)
	if refused == nil {
		return ""
	}
	return refused.Code
}

// cannotWrite reports whether an error says that the database cannot be written to: its
// disk is full or broken, or it is a standby or read-only.
func cannotWrite(err error) bool {
	code := codeOf(err)
	return code == diskFull || code == ioError || code == readOnlyTransaction
}

// errRollBack rolls back a transaction whose change was refused.
var errRollBack = errors.New("the change was refused")

// hadNoEffect reports whether the work may be repeated: the database rolled it back or
// refused it, or it was never sent. What one server refused is repeated only with another
// connection. For a commit only the database's own answer counts: pgx considers it safe to
// retry even if a commit was sent and its answer was lost.
func hadNoEffect(err error, replaced bool) bool {
	code := codeOf(err)
	if code == serializationFailure || code == deadlockDetected {
		return true
	}
	if _, ofCommit := errors.AsType[commitError](err); ofCommit {
		return false
	}
	switch code {
	case adminShutdown:
		return true
	case readOnlyTransaction, unknownStatement, duplicateStatement:
		return replaced
	}
	return errors.Is(err, errShared) || pgconn.SafeToRetry(err)
}

// unavailable wraps an error of the database in store.ErrUnavailable. It returns the
// package's own errors unchanged, the context's error if the caller's context has ended,
// and nil if err is nil.
func unavailable(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isOurs(err) {
		return err
	}
	return fmt.Errorf("%w: PostgreSQL: %w", store.ErrUnavailable, err)
}

// isOurs reports whether an error is of this package, not of the database.
func isOurs(err error) bool {
	for _, ours := range []error{pgx.ErrNoRows, store.ErrLeaseLost, store.ErrStale, store.ErrConflict, store.ErrChanged, store.ErrHeld, store.ErrUnavailable, store.ErrClosed, errRollBack} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}
