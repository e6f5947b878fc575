package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign-dev/countersign/store"
)

// ofOneRow reports whether the database refused a statement because of the contents of a
// row: error classes "data exception" and "integrity constraint violation".
func ofOneRow(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(refused.Code, "22") || strings.HasPrefix(refused.Code, "23"))
}

// errShared fails a connection that was made for a session of our own.
var errShared = errors.New("a connection pooler stands in front of the database")

func (e commitError) Unwrap() error { return e.error }

// commitError is an error of the commit itself: the database may have committed.
type commitError struct{ error }

// codeOf returns the code of the database's error, or "" if it is another error.
func codeOf(err error) string {
	refused, _ := errors.AsType[*pgconn.PgError](err)
	if refused == nil {
		return ""
	}
	return refused.Code
}

var errRollBack = errors.New("the change was refused")

// hadNoEffect reports whether the work may be repeated: the database refused it, or it was
// never sent. What one server refused is repeated only with another
// connection. For a commit only the database's own answer counts: pgx considers it safe to
// retry even if a commit was sent and its answer was lost.
func hadNoEffect(err error, replaced bool) bool {
	if _, ofCommit := errors.AsType[commitError](err); ofCommit {
		return false
	}
	switch codeOf(err) {
	case adminShutdown:
		return true
	case readOnlyTransaction, unknownStatement, duplicateStatement:
		return replaced
	}
	return errors.Is(err, errShared) || pgconn.SafeToRetry(err)
}

// unavailable wraps an error of the database in store.ErrUnavailable. It returns the package's own
// errors unchanged, the context's error if the caller's context has ended, and nil if err is nil.
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
	return slices.ContainsFunc([]error{pgx.ErrNoRows, store.ErrLeaseLost, store.ErrStale, store.ErrConflict,
		store.ErrStopped, store.ErrChanged, store.ErrHeld, store.ErrUnavailable, store.ErrClosed, errRollBack},
		func(ours error) bool { return errors.Is(err, ours) })
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
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	undefinedFunction     = "42883"
	duplicateStatement    = "42P05"
	diskFull              = "53100"
	lockNotAvailable      = "55P03"
	ioError               = "58030"
)
