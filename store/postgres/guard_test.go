package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestChecksBeforeLeases takes the database away, or replaces it, under a store: no lease is
// taken before the check has passed, with and without a change, and none while it fails.
// Without an occasion nothing is checked.
func TestChecksBeforeLeases(t *testing.T) {
	server := testenv.Postgres(t)
	execute(t, server.DSN, "CREATE DATABASE one")
	dsn := strings.Replace(server.DSN, "dbname=postgres", "dbname=one", 1)
	s := open(t, dsn)
	var checks atomic.Int32
	failing := errors.New("not now")
	var fails atomic.Bool
	s.OnReconnect(func(ctx context.Context) error {
		checks.Add(1)
		if fails.Load() {
			return failing
		}
		_, err := s.LogHeads(ctx) // over a connection to the other server
		return err
	})
	for range 20 {
		complete(t, s, randomBody(t))
	}
	if checks.Load() != 0 {
		t.Errorf("%d checks without an occasion", checks.Load())
	}
	nothing := without(func(otpledger.Ledger) error { return nil })
	for name, happens := range map[string]func(){
		"restarted": func() { server.Stop(); server.Start() },
		"crashed":   func() { server.Crash(); server.Start() },
		"connections ended": func() {
			execute(t, server.DSN, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'one'")
		},
		"replaced": func() { replaceDatabase(t, server, "one", "zero", nil) },
	} {
		for _, change := range []store.Change{nil, nothing} {
			happens()
			before := checks.Load()
			fails.Store(true)
			if begun, err := s.Begin(t.Context(), claimOf(randomBody(t)), change); begun.Lease != nil || !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: %+v, %v: want no lease while the check fails", name, begun, err)
			}
			fails.Store(false)
			complete(t, s, randomBody(t))
			if checks.Load() < before+2 {
				t.Errorf("%s: %d checks", name, checks.Load()-before)
			}
			before = checks.Load()
			complete(t, s, randomBody(t))
			if checks.Load() != before {
				t.Errorf("%s: checked without another occasion", name)
			}
			if name == "replaced" {
				break
			}
		}
	}
}

var bodies atomic.Int32

// randomBody returns a body that no other call returns.
func randomBody(t *testing.T) string {
	return fmt.Sprintf("%d %s", bodies.Add(1), t.Name())
}

// TestExisting: a schema without the tables, or with none of a version, is no store, and
// stays as it is.
func TestExisting(t *testing.T) {
	server := testenv.Postgres(t)
	dsn := schema(t, server)
	for _, statement := range []string{"SELECT", "CREATE TABLE countersign_schema (version integer NOT NULL)"} {
		connection := connect(t, dsn)
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		before := relations(t, connection)
		if _, err := postgres.OpenExisting(t.Context(), dsn); !errors.Is(err, store.ErrNone) || !strings.Contains(err.Error(), "has no tables of countersign") || !strings.Contains(err.Error(), "of database postgres") {
			t.Errorf("%q: %v", before, err)
		}
		if after := relations(t, connection); len(after) != len(before) {
			t.Errorf("made: %q", after)
		}
	}
	testenv.Must(t, open(t, dsn).Close())
	s, err := postgres.OpenExisting(t.Context(), dsn)
	testenv.Must(t, err)
	complete(t, s, "a")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLostTables: a schema that has lost some of its tables, or its version, is damaged:
// it is neither opened nor completed.
func TestLostTables(t *testing.T) {
	server := testenv.Postgres(t)
	for statement, lost := range map[string]string{
		"DROP TABLE countersign_schema":                                "countersign_schema",
		"DELETE FROM countersign_schema":                               "countersign_schema",
		"DROP TABLE countersign_ledgers":                               "countersign_ledgers",
		"DROP TABLE countersign_log_heads, countersign_log_leaves":     "countersign_log_heads, countersign_log_leaves",
		"DROP TABLE countersign_activities, countersign_schema":        "countersign_schema, countersign_activities",
		"ALTER TABLE countersign_activities RENAME TO kept_activities": "countersign_activities",
	} {
		dsn := schema(t, server)
		testenv.Must(t, open(t, dsn).Close())
		connection := connect(t, dsn)
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		before := relations(t, connection)
		for _, opens := range []func(context.Context, string) (*postgres.Store, error){postgres.OpenExisting, postgres.Open} {
			if _, err := opens(t.Context(), dsn); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNone) || !strings.Contains(err.Error(), "of database postgres has lost "+lost+": restore a backup") {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if after := relations(t, connection); len(after) != len(before) {
			t.Errorf("%s: made %q", statement, after)
		}
	}
}

// TestChecksBehindPooler replaces the database behind a pooler that keeps the connections of
// its clients by an earlier state: no lease is taken before the check has passed, whether the node
// knows the server by its start or the state by a mark.
func TestChecksBehindPooler(t *testing.T) {
	t.Run("by the start of the server", func(t *testing.T) { checksBehindPooler(t, false) })
	t.Run("by a mark", func(t *testing.T) { checksBehindPooler(t, true) })
}

// unstarted returns an address that leads through a proxy to where dsn leads, as to a server
// that does not say when it started.
func unstarted(t *testing.T, dsn string) string {
	t.Helper()
	p, address := through(t, dsn)
	p.rewrite = func(statement string) string {
		return strings.ReplaceAll(statement, "pg_postmaster_start_time", "unknown_function")
	}
	return address
}

func checksBehindPooler(t *testing.T, byMark bool) {
	server := testenv.Postgres(t)
	execute(t, server.DSN, "CREATE DATABASE one")
	dsn := strings.Replace(server.PgBouncer(2), "dbname=postgres", "dbname=one", 1)
	address := dsn
	if byMark {
		address = unstarted(t, dsn)
	}
	s := open(t, address)
	failing := errors.New("not now")
	var fails atomic.Bool
	var checks atomic.Int32
	s.OnReconnect(func(context.Context) error {
		checks.Add(1)
		if fails.Load() {
			return failing
		}
		return nil
	})
	nothing := without(func(otpledger.Ledger) error { return nil })
	for _, change := range []store.Change{nil, nothing} {
		complete(t, s, randomBody(t))
		lost := func() { complete(t, s, randomBody(t)) }
		replaceDatabase(t, server, "one", "before "+string('a'+bodies.Load()%26), lost)
		fails.Store(true)
		for range 3 {
			if begun, err := s.Begin(t.Context(), claimOf(randomBody(t)), change); begun.Lease != nil || !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%+v, %v: want no lease while the check fails", begun, err)
			}
		}
		fails.Store(false)
		complete(t, s, randomBody(t))
		before := checks.Load()
		complete(t, s, randomBody(t))
		if checks.Load() != before {
			t.Error("checked without another occasion")
		}
	}
	if n := count(t, dsn, "SELECT count(*) FROM countersign_activities WHERE id IS NULL"); n != 0 {
		t.Errorf("%d leases were left behind", n)
	}
}

// replaceDatabase replaces a database by a copy, and keeps it under another name. What happens
// meanwhile, which may be nil, is not in the copy.
func replaceDatabase(t *testing.T, server *testenv.PostgreSQL, name, kept string, meanwhile func()) {
	t.Helper()
	quoted := pgx.Identifier{kept}.Sanitize()
	testenv.Await(t, "the copy", func() bool {
		execute(t, server.DSN, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
		_, err := connect(t, server.DSN).Exec(t.Context(), "CREATE DATABASE copy TEMPLATE "+name)
		return err == nil
	})
	if meanwhile != nil {
		meanwhile()
	}
	testenv.Await(t, "the database is left", func() bool {
		execute(t, server.DSN, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
		_, err := connect(t, server.DSN).Exec(t.Context(), "ALTER DATABASE "+name+" RENAME TO "+quoted)
		return err == nil
	})
	execute(t, server.DSN, "ALTER DATABASE copy RENAME TO "+name)
}

// TestCallersThatLeave: a caller that is gone is no occasion for a check.
func TestCallersThatLeave(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, schema(t, server))
	var checks atomic.Int32
	s.OnReconnect(func(context.Context) error { checks.Add(1); return nil })
	complete(t, s, randomBody(t))
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Get(ctx, "org", "a"); err == nil {
			t.Error("a caller that is gone was answered")
		}
	}
	complete(t, s, randomBody(t))
	if checks.Load() != 0 {
		t.Errorf("%d checks", checks.Load())
	}
}
