package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// MaxConnections is how many connections there may be.
func (s *Store) MaxConnections() int32 { return s.pool.Config().MaxConns }

// SharesSessions reports whether the store knows that a pooler stands in front.
func (s *Store) SharesSessions() bool { return s.pool.shared.Load() }

// ForgetStatements removes the prepared statements of a session, as if it were another.
func (s *Store) ForgetStatements(ctx context.Context) error {
	return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		_, err := c.Conn().PgConn().Exec(ctx, "DEALLOCATE ALL").ReadAll()
		return err
	})
}

// ForeignStatements begins a session in which another client has prepared the statements
// that were prepared in the one before.
func (s *Store) ForeignStatements(ctx context.Context) error {
	prepared := map[string]string{}
	err := s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		results, err := c.Conn().PgConn().Exec(ctx, "SELECT name, statement FROM pg_prepared_statements").ReadAll()
		for _, row := range results[0].Rows {
			prepared[string(row[0])] = string(row[1])
		}
		return err
	})
	if err != nil {
		return err
	}
	s.pool.Reset()
	return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		for name, statement := range prepared {
			if _, err := c.Conn().PgConn().Prepare(ctx, name, statement, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetSilenceLimit returns what sets it back.
func SetSilenceLimit(limit time.Duration) (restore func()) {
	before := silenceLimit
	silenceLimit = limit
	return func() { silenceLimit = before }
}
