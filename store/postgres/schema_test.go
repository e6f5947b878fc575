package postgres_test

import (
	"crypto/sha256"
	"encoding/binary"
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
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
	}
	complete(t, open(t, dsn), "a")
}

// needsRightsToDataOnly opens what another role has brought up to date with the
// rights that docs/operations.md names.
func needsRightsToDataOnly(t *testing.T, server *testenv.PostgreSQL) {
	dsn := clerk(t, server)
	complete(t, open(t, dsn), "a")
	execute(t, server.DSN, "CREATE ROLE scribe LOGIN")
	execute(t, dsn, strings.ReplaceAll(`
		GRANT USAGE ON SCHEMA $schema TO scribe;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA $schema TO scribe;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA $schema TO scribe`, "$schema", schemaOf(dsn)))
	complete(t, open(t, strings.Replace(dsn, "user=clerk", "user=scribe", 1)), "b")
}

// migrationRefused: a database whose tables cannot be made, or are another
// program's, is not opened and left as it was; with nothing in the way it is.
func migrationRefused(t *testing.T, server *testenv.PostgreSQL) {
	sum := sha256.Sum256([]byte("countersign schema"))
	lock := binary.BigEndian.Uint64(sum[:]) &^ (1 << 63)
	const (
		versioned   = "CREATE TABLE countersign_schema (version integer NOT NULL); "
		unversioned = "DROP TABLE countersign_schema"
	)
	for name, test := range map[string]obstacle{
		"the lock is held": {
			fmt.Sprintf("SELECT pg_advisory_lock(%d)", lock), fmt.Sprintf("SELECT pg_advisory_unlock(%d)", lock),
			"canceling statement due to lock timeout"},
		"no right to make tables": {
			"REVOKE CREATE ON SCHEMA $schema FROM clerk", "GRANT CREATE ON SCHEMA $schema TO clerk",
			"permission denied for schema $schema"},
		"no right to read the version": {
			versioned + "REVOKE SELECT ON countersign_schema FROM clerk", unversioned,
			"permission denied for table countersign_schema"},
		"no right to remove the version": {
			versioned + "REVOKE DELETE ON countersign_schema FROM clerk", unversioned,
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
			"the database has schema version 1000, this program knows versions up to 2: use a newer version"},
		"a version before the first": {
			versioned + "INSERT INTO countersign_schema VALUES (-1)", unversioned,
			"the database has schema version -1, which does not exist"},
		"a table of this name": {
			"CREATE TABLE countersign_ledgers (id text)", "DROP TABLE countersign_ledgers",
			`relation "countersign_ledgers" already exists`},
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

// relations lists all tables, indexes and sequences of the schema.
func relations(t *testing.T, connection *pgx.Conn) []string {
	t.Helper()
	rows, _ := connection.Query(t.Context(), `
		SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}
