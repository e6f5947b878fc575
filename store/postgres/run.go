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
	return s.repeat(ctx, func(ctx context.Context) error { return do(ctx, s.pool) })
}

// transact does work in one transaction.
func (s *Store) transact(ctx context.Context, do work) error {
	return s.repeat(ctx, func(ctx context.Context) error {
		done := false
		err := s.inTransaction(ctx, func(ctx context.Context, q querier) error {
			err := do(ctx, q)
			done = err == nil
			return err
		})
		if done && err != nil {
			return commitError{err}
		}
		return err
	})
}

// silenceLimit is how long a transaction waits for its node before the database ends it.
// Otherwise a node that was suspended or lost power would hold locks of rows and logs
// until its connection breaks, which can take hours.
var silenceLimit = OperationTimeout

// setSilenceLimit returns the statement that sets silenceLimit for one transaction.
func setSilenceLimit() string {
	return fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", silenceLimit.Milliseconds())
}

// inTransaction does work in one transaction, once and without a time limit.
func (s *Store) inTransaction(ctx context.Context, do work) error {
	options := pgx.TxOptions{BeginQuery: "begin; " + setSilenceLimit()}
	return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) error { return do(ctx, tx) })
}

// commitError is an error of the commit itself: the database may have committed.
type commitError struct{ error }

// Unwrap returns the error of the commit.
func (e commitError) Unwrap() error { return e.error }

func (s *Store) repeat(ctx context.Context, do func(context.Context) error) error {
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
	}
	bounded, cancel := context.WithTimeout(ctx, OperationTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := do(bounded)
		if err == nil {
			return nil
		}
		if cannotWrite(err) {
			s.failed.Store(true)
		}
		s.guard.noteLost(err)
		if attempt == attempts || bounded.Err() != nil || !hadNoEffect(err) {
			return unavailable(ctx, err)
		}
	}
}

// Codes of PostgreSQL's errors (appendix A of its manual).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	adminShutdown        = "57P01"
	uniqueViolation      = "23505"
	readOnlyTransaction  = "25006"
	diskFull             = "53100"
	ioError              = "58030"
)

// cannotWrite reports whether an error says that the database cannot be written to: its
// disk is full or broken, or it is a standby or read-only.
func cannotWrite(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refused.Code == diskFull || refused.Code == ioError || refused.Code == readOnlyTransaction)
}

// errRollBack rolls back a transaction whose change was refused.
var errRollBack = errors.New("the change was refused")

// hadNoEffect reports whether the work may be repeated: the database rolled it back, or it
// was never sent. For a commit only the database's own answer counts: pgx considers it
// safe to retry even if a commit was sent and its answer was lost.
func hadNoEffect(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == serializationFailure || refused.Code == deadlockDetected) {
		return true
	}
	if _, ofCommit := errors.AsType[commitError](err); ofCommit {
		return false
	}
	return refused != nil && refused.Code == adminShutdown || pgconn.SafeToRetry(err)
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
