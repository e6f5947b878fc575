package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

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
		"replaced": func() {
			execute(t, server.DSN, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'one'")
			testenv.Await(t, "the copy", func() bool {
				_, err := connect(t, server.DSN).Exec(t.Context(), "CREATE DATABASE two TEMPLATE one")
				return err == nil
			})
			execute(t, server.DSN, "ALTER DATABASE one RENAME TO zero")
			execute(t, server.DSN, "ALTER DATABASE two RENAME TO one")
		},
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
	return string(rune('a'+bodies.Add(1)%26)) + t.Name()[:4] + string(rune(1000+bodies.Load()))
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
		if _, err := postgres.OpenExisting(t.Context(), dsn); !errors.Is(err, store.ErrNone) || !strings.Contains(err.Error(), "the database schema has no tables of countersign") {
			t.Errorf("%q: %v", before, err)
		}
		if after := relations(t, connection); len(after) != len(before) {
			t.Errorf("made: %q", after)
		}
	}
	if err := open(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.OpenExisting(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, s, "a")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
