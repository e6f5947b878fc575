package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign-dev/countersign/store"
)

// migrations are the versions of the schema in their order. A released version is never
// changed; a change is a new version.
//
// Without statistics, which a new table does not have, the planner uses the most recently
// created of the indexes that fit a query, and a connection keeps that plan. So for each
// query only one index fits, or the right one is created last: the index of ids covers
// only rows with an id, and the primary keys come after the other indexes. Statements for
// one row say "revision = 0" instead of "id IS NULL", and "waiting IS NOT FALSE" instead of
// "waiting", so that the partial indexes do not fit them.
var migrations = []string{
	`CREATE SEQUENCE countersign_token;

	CREATE TABLE countersign_activities (
		organization_id text COLLATE "C" NOT NULL,
		fingerprint     bytea NOT NULL,             -- SHA-256 of the request's body
		token           bigint NOT NULL,            -- fencing token of the lease
		nonce           bigint NOT NULL,            -- of the lease: a crash may issue a token twice
		lease_until     timestamptz NOT NULL,       -- of a waiting row: -infinity unless it is being carried out
		id              text COLLATE "C",           -- this and the following are set when it is recorded
		submitted_by    text,
		user_id         text COLLATE "C",
		type            text COLLATE "C",
		status          text COLLATE "C",
		data            bytea,
		keep_until      timestamptz,
		completed_at    timestamptz,
		waiting         boolean NOT NULL DEFAULT false,
		revision        bigint NOT NULL DEFAULT 0   -- 0: not recorded, only a lease
	);
	CREATE INDEX ON countersign_activities (lease_until) WHERE id IS NULL;
	CREATE INDEX ON countersign_activities (organization_id, id) WHERE waiting;
	CREATE UNIQUE INDEX ON countersign_activities (organization_id, id) WHERE id IS NOT NULL;
	ALTER TABLE countersign_activities ADD PRIMARY KEY (organization_id, fingerprint);

	CREATE TABLE countersign_ledgers (
		organization_id text COLLATE "C" NOT NULL,
		key             bytea NOT NULL,             -- kind 1 ‖ id 32
		value           bytea,                      -- null: no entry, the row is a lock
		keep_until      timestamptz NOT NULL
	);
	CREATE INDEX ON countersign_ledgers (keep_until);
	ALTER TABLE countersign_ledgers ADD PRIMARY KEY (organization_id, key);

	CREATE TABLE countersign_log_heads (
		organization_id text COLLATE "C" PRIMARY KEY,
		head            bytea NOT NULL              -- translog.Head; the row is the lock of the log
	);
	CREATE TABLE countersign_log_leaves (
		organization_id text COLLATE "C" NOT NULL,
		index           bigint NOT NULL,
		id              text COLLATE "C" NOT NULL,
		leaf            bytea NOT NULL,
		hashes          bytea NOT NULL              -- 32 bytes each
	);
	CREATE INDEX ON countersign_log_leaves (id);
	ALTER TABLE countersign_log_leaves ADD PRIMARY KEY (organization_id, index);

	-- Records are JSON of a few kilobytes: lz4, which not every server has, takes a fraction of the time of pglz.
	DO $$ BEGIN
		IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
			ALTER TABLE countersign_activities ALTER COLUMN data SET COMPRESSION lz4;
		END IF;
	END $$;`,

	// The expression keeps the index from fitting queries that find one row: see above.
	`ALTER TABLE countersign_activities ADD COLUMN at bigint NOT NULL DEFAULT 0; -- that the body names, in milliseconds
	CREATE INDEX ON countersign_activities ((organization_id || ''), type, status, id) WHERE id IS NOT NULL;

	CREATE SEQUENCE countersign_event;
	CREATE TABLE countersign_outbox (
		organization_id text COLLATE "C" NOT NULL,
		class           smallint NOT NULL,          -- 1: about an activity; 2: others, which go first
		place           bigint NOT NULL DEFAULT nextval('countersign_event'),
		id              text COLLATE "C" NOT NULL,
		activity        text COLLATE "C" NOT NULL,
		at              bigint NOT NULL,            -- milliseconds
		data            bytea NOT NULL,
		PRIMARY KEY (organization_id, class, place)
	);`,
}

// migrationLock keeps nodes from migrating at the same time. It is the first eight bytes
// of SHA-256("countersign schema"), without the sign bit.
const migrationLock = 0x52693096f96eac7f

// migrate migrates the tables to the current version, in one transaction.
func migrate(ctx context.Context, db *database) error {
	err := db.transact(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		if err := makeVersion(ctx, q); err != nil {
			return err
		}
		version := 0
		err := q.QueryRow(ctx, `SELECT version FROM countersign_schema`).Scan(&version)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return upgrade(ctx, q, version)
	})
	if codeOf(err) == noSchema {
		_, _, missing := missing(ctx, db) // not before: what it reads would be stale under the lock
		return cmp.Or(missing, err)
	}
	if codeOf(err) == insufficientPrivilege {
		err = fmt.Errorf("%w: have a role that owns the schema create or migrate the tables "+
			"(docs/operations.md#managed-databases)", err)
	}
	return err
}

// tables are the tables and the sequences, the table of the version first.
var tables = []string{"countersign_schema", "countersign_activities", "countersign_ledgers", "countersign_log_heads",
	"countersign_log_leaves", "countersign_token", "countersign_outbox", "countersign_event"}

// exists returns store.ErrNone for a schema that has none of the tables. It writes nothing.
func exists(ctx context.Context, db *database) error {
	schema, missing, err := missing(ctx, db)
	if err == nil && len(missing) == len(tables) {
		err = fmt.Errorf("%w: %s has no tables of countersign", store.ErrNone, schema)
	}
	return err
}

// whole refuses a schema that has lost tables. cause is the error of the migration, which
// is nil, or that one of the others exists.
func whole(ctx context.Context, db *database, cause error) error {
	schema, missing, err := missing(ctx, db)
	if err != nil || len(missing) == 0 {
		return errors.Join(cause, err)
	}
	err = fmt.Errorf("%w: %s has lost %s: restore a backup (docs/operations.md#restore)", store.ErrUnavailable,
		schema, strings.Join(missing, ", "))
	if refused, ok := errors.AsType[*pgconn.PgError](cause); ok {
		err = fmt.Errorf("%w: %w", err, refused)
	}
	return err
}

func missing(ctx context.Context, db *database) (schema string, missing []string, err error) {
	err = db.run(ctx, func(ctx context.Context, q querier) (err error) {
		schema, missing, err = missingTables(ctx, q)
		return err
	})
	return schema, missing, err
}

// missingTables returns the name of the schema, and which tables it does not have. The
// table of the version counts as missing if it is empty.
func missingTables(ctx context.Context, q querier) (schema string, missing []string, err error) {
	var without string // a schema: how it is looked for
	err = q.QueryRow(ctx, `
		SELECT CASE WHEN current_schema() IS NULL THEN
				format('the search_path %s of role %s names no schema that database %s has',
					current_setting('search_path'), current_user, current_database()) ELSE '' END,
			format('schema %s of database %s', quote_ident(current_schema()), quote_ident(current_database())),
			array(SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, n)
				WHERE to_regclass(quote_ident(current_schema()) || '.' || name) IS NULL ORDER BY n)`,
		tables).Scan(&without, &schema, &missing)
	if err == nil && without != "" {
		err = fmt.Errorf("%w: %s, or the role may not use it: create it with 'CREATE SCHEMA', or name another "+
			"database (docs/operations.md#managed-databases)", store.ErrUnavailable, without)
	}
	if err != nil || slices.Contains(missing, tables[0]) {
		return schema, missing, err
	}
	versioned := false
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM countersign_schema)`).Scan(&versioned)
	if !versioned {
		missing = append(tables[:1:1], missing...)
	}
	return schema, missing, err
}

// makeVersion creates the table of the version if it does not exist. CREATE TABLE IF NOT
// EXISTS would need the right to create tables even if it exists, and a node that has
// nothing to migrate does not need that right.
func makeVersion(ctx context.Context, q querier) error {
	there := false
	const exists = `SELECT to_regclass(quote_ident(current_schema()) || '.countersign_schema') IS NOT NULL`
	err := q.QueryRow(ctx, exists).Scan(&there)
	if err != nil || there {
		return err
	}
	_, err = q.Exec(ctx, `CREATE TABLE countersign_schema (version integer NOT NULL)`)
	return err
}

func upgrade(ctx context.Context, q querier, version int) error {
	if version > len(migrations) {
		return fmt.Errorf("the database has schema version %d, this program knows versions up to %d: use a newer "+
			"version", version, len(migrations))
	}
	if version < 0 {
		return fmt.Errorf("the database has schema version %d, which does not exist", version)
	}
	if version == len(migrations) {
		return nil
	}
	for _, migration := range migrations[version:] {
		if _, err := q.Exec(ctx, migration); err != nil {
			return err
		}
	}
	if _, err := q.Exec(ctx, `DELETE FROM countersign_schema`); err != nil {
		return err
	}
	_, err := q.Exec(ctx, `INSERT INTO countersign_schema VALUES ($1)`, len(migrations))
	return err
}
