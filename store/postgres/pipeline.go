package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// statement is SQL with its arguments, and the function that reads its rows and closes them.
type statement struct {
	sql       string
	arguments []any
	read      func(pgx.Rows) error
}

// nothingRead reads the answer of a statement that returns no rows.
func nothingRead(rows pgx.Rows) error {
	rows.Close()
	return rows.Err()
}

// do executes the statement by itself.
func (st *statement) do(ctx context.Context, q querier) error {
	rows, _ := q.Query(ctx, st.sql, st.arguments...) // read has the error
	return st.read(rows)
}

// pipeline executes a transaction in two round trips: first the statements of first, then
// those of second, which is called after first's rows have been read, and the commit. If
// second returns an error, the transaction is rolled back. It may call both again.
func (s *Store) pipeline(ctx context.Context, first func() []*statement, second func() ([]*statement, error)) error {
	return s.repeat(ctx, func(ctx context.Context, c *pgx.Conn) error {
		defer rollBack(ctx, c)
		begin := []*statement{{sql: "begin", read: nothingRead}, {sql: setSilenceLimit(), read: nothingRead}}
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

// rollBack ends a transaction that was not committed.
func rollBack(ctx context.Context, c *pgx.Conn) {
	if !c.IsClosed() && c.PgConn().TxStatus() != noTransaction {
		_, _ = c.Exec(ctx, "rollback") // if it fails, the pool closes the connection
	}
}
