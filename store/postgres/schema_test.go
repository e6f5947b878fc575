package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/postgres"
)

func TestSchema(t *testing.T) {
	server := testenv.Postgres(t)
	t.Run("many nodes", func(t *testing.T) { manyNodesMigrate(t, schema(t, server)) })
	t.Run("refused", func(t *testing.T) { migrationRefused(t, server) })
	t.Run("up to date", func(t *testing.T) { needsRightsToDataOnly(t, server) })
}

// manyNodesMigrate opens an empty database from many nodes at once.
func manyNodesMigrate(t *testing.T, dsn string) {
	opened := make(chan error, 8)
	for range cap(opened) {
		go func() {
			s, err := postgres.Open(t.Context(), dsn+" pool_max_conns=2")
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
	}
	for range cap(opened) {
		testenv.Must(t, <-opened)
	}
	complete(t, open(t, dsn), "a")
}

// needsRightsToDataOnly opens what another role has brought up to date with the
// rights that docs/operations.md names. With no others, an older version stays as it is.
func needsRightsToDataOnly(t *testing.T, server *testenv.PostgreSQL) {
	dsn := clerk(t, server)
	complete(t, open(t, dsn), "a")
	execute(t, server.DSN, "CREATE ROLE scribe LOGIN")
	execute(t, dsn, strings.ReplaceAll(`
		GRANT USAGE ON SCHEMA $schema TO scribe;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA $schema TO scribe`, "$schema", schemaOf(dsn)))
	scribe := strings.Replace(dsn, "user=clerk", "user=scribe", 1)
	complete(t, open(t, scribe), "b")
	execute(t, dsn, `DROP TABLE countersign_schema, countersign_activities, countersign_ledgers,
		countersign_log_heads, countersign_log_leaves, countersign_outbox; `+layout(2)+
		`; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA `+schemaOf(dsn)+` TO scribe`)
	if _, err := postgres.Open(t.Context(), scribe); err == nil ||
		!strings.Contains(err.Error(), "have a role that owns the schema") {
		t.Errorf("an older version is opened with %v by a role that cannot migrate it", err)
	}
	if version := count(t, dsn, "SELECT version FROM countersign_schema"); version != 2 {
		t.Errorf("it left version %d", version)
	}
}

// migrationRefused: a database whose tables cannot be made, or are another
// program's, is not opened and left as it was; with nothing in the way it is.
func migrationRefused(t *testing.T, server *testenv.PostgreSQL) {
	const (
		versioned   = "CREATE TABLE countersign_schema (version integer NOT NULL); "
		unversioned = "DROP TABLE countersign_schema"
	)
	for name, test := range map[string]obstacle{
		"the lock is held": {
			versioned + "INSERT INTO countersign_schema VALUES (3); BEGIN; SELECT FROM countersign_schema FOR UPDATE",
			"ROLLBACK", "canceling statement due to lock timeout"},
		"no right to make tables": {
			"REVOKE CREATE ON SCHEMA $schema FROM clerk", "GRANT CREATE ON SCHEMA $schema TO clerk",
			"permission denied for schema $schema"},
		"no right to read the version": {
			versioned + "REVOKE SELECT ON countersign_schema FROM clerk", unversioned,
			"permission denied for table countersign_schema"},
		"no right to change the version": {
			versioned + "REVOKE UPDATE ON countersign_schema FROM clerk", unversioned,
			"permission denied for table countersign_schema"},
		"no right to write the version": {
			versioned + "REVOKE INSERT ON countersign_schema FROM clerk", unversioned,
			"permission denied for table countersign_schema"},
		"a version that is no number": {
			"CREATE TABLE countersign_schema (version text); INSERT INTO countersign_schema VALUES ('one')", unversioned,
			"(col: version)"},
		"no version in its row": {
			"CREATE TABLE countersign_schema (version integer); INSERT INTO countersign_schema VALUES (NULL)", unversioned,
			"(col: version)"},
		"a version of the future": {
			versioned + "INSERT INTO countersign_schema VALUES (1000)", unversioned,
			"the database has schema version 1000, this program knows versions up to 4: use a newer version"},
		"a version before the first": {
			versioned + "INSERT INTO countersign_schema VALUES (-1)", unversioned,
			"the database has schema version -1, which does not exist"},
		"a table of this name": {
			"CREATE TABLE countersign_ledgers (id text)", "DROP TABLE countersign_ledgers",
			"has lost countersign_schema, countersign_activities, countersign_log_heads, countersign_log_leaves, " +
				"countersign_outbox: restore a backup"},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := clerk(t, server)
			other := test.put(t, dsn)
			before := relations(t, other)
			_, err := postgres.Open(t.Context(), dsn)
			test.unavailable(t, other, err)
			if after := relations(t, other); !slices.Equal(after, before) {
				t.Errorf("done by halves: there is %q, and there was %q", after, before)
			}
			test.clearAway(t, other)
			s := open(t, dsn)
			complete(t, s, "a")
			complete(t, open(t, dsn), "b")
		})
	}
}

// TestKilledMigration cuts off the creation and the migrations of the tables after each of their
// statements, of whose answers the node does not learn. Once a table has changed, a program of before
// is refused by the version. The next start goes on, and finds what was there.
func TestKilledMigration(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	for version := range 1 + len(layouts) {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			t.Parallel()
			n := 1
			for ; killedMigration(t, server, version, n); n++ {
			}
			if n < 2*20 {
				t.Errorf("only %d statements", n-1)
			}
		})
	}
}

// killedMigration cuts the migration from a version off after the nth of its statements that write.
// It returns whether there was one.
func killedMigration(t *testing.T, server *testenv.PostgreSQL, version, n int) (killed bool) {
	t.Helper()
	dsn := schema(t, server)
	if version > 0 {
		execute(t, dsn, layout(version))
		fillOld(t, dsn)
	}
	watcher := connect(t, dsn)
	defer func() { _ = watcher.Close(context.WithoutCancel(t.Context())) }()
	before := relations(t, watcher)
	p, address := through(t, dsn)
	writes := 0
	p.judge = func(statement string) verdict {
		word, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
		if writes >= n {
			return isLost
		}
		if slices.Contains([]string{"CREATE", "ALTER", "DROP", "UPDATE", "INSERT", "commit"}, word) {
			writes++
		}
		if writes == n {
			return losesReply
		}
		return passes
	}
	s, err := postgres.Open(t.Context(), address)
	p.mu.Lock()
	killed = writes >= n
	p.mu.Unlock()
	if killed == (err == nil) {
		t.Errorf("killed %v after statement %d: opened with %v", killed, n, err)
	}
	if err == nil {
		_ = s.Close()
	}
	if after := relations(t, watcher); version > 0 && !slices.Equal(before, after) {
		if got := count(t, dsn, "SELECT version FROM countersign_schema"); got <= len(layouts) {
			t.Errorf("killed after statement %d: version %d, with %q in place of %q", n, got, after, before)
		}
	}
	s = open(t, dsn)
	defer func() { _ = s.Close() }()
	complete(t, s, "new")
	if version > 0 {
		findOld(t, s)
	}
	return killed
}

// relations lists all tables, indexes and sequences of the schema.
func relations(t *testing.T, connection *pgx.Conn) []string {
	t.Helper()
	rows, _ := connection.Query(t.Context(), `
		SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	testenv.Must(t, err)
	return names
}
