package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
)

// The versions of the schema. From the first step of a migration on, the schema has a version
// that no older program opens.
const (
	migrating = 3
	current   = 4
)

// steps make the tables, and bring those of older versions up to date: version 1 had no outbox,
// and version 2 numbered leases and events. Each is a transaction of its own, in databases that have
// them for such statements, and leaves what it finds done: a migration that was cut off is made again.
//
// Without statistics, which a new table does not have, the planner uses the most recently
// created of the indexes that fit a query, and a connection keeps that plan. So for each
// query only one index fits, or the right one is created last: the index of ids covers
// only rows with an id. Statements for one row say "revision = 0" instead of "id IS NULL", and
// "waiting IS NOT FALSE" instead of "waiting", so that the partial indexes do not fit them.
var steps = []string{
	// Changes nothing, as only the owner may: a node of another role leaves the version, too, as it is.
	`ALTER TABLE IF EXISTS countersign_activities ALTER COLUMN waiting SET DEFAULT false`,
	setVersion(migrating),
	`CREATE TABLE IF NOT EXISTS countersign_activities (
		organization_id text COLLATE "C" NOT NULL,
		fingerprint     bytea NOT NULL,             -- SHA-256 of the request's body
		lease           bytea NOT NULL DEFAULT '',  -- its token, the latest
		lease_until     timestamptz NOT NULL,       -- of a waiting row: -infinity unless it is being carried out
		at              bigint NOT NULL DEFAULT 0,  -- that the body names, in milliseconds
		id              text COLLATE "C",           -- this and the following are set when it is recorded
		submitted_by    text,
		user_id         text COLLATE "C",
		type            text COLLATE "C",
		status          text COLLATE "C",
		data            bytea,
		keep_until      timestamptz,
		completed_at    timestamptz,
		waiting         boolean NOT NULL DEFAULT false,
		revision        bigint NOT NULL DEFAULT 0,  -- 0: not recorded, only a lease
		PRIMARY KEY (organization_id, fingerprint)
	)`,
	`ALTER TABLE countersign_activities ADD COLUMN IF NOT EXISTS at bigint NOT NULL DEFAULT 0`,
	`ALTER TABLE countersign_activities ADD COLUMN IF NOT EXISTS lease bytea NOT NULL DEFAULT ''`,
	`ALTER TABLE countersign_activities DROP COLUMN IF EXISTS token, DROP COLUMN IF EXISTS nonce`,
	`CREATE INDEX IF NOT EXISTS countersign_activities_lease_until_idx
		ON countersign_activities (lease_until) WHERE id IS NULL`,
	`CREATE INDEX IF NOT EXISTS countersign_activities_organization_id_id_idx
		ON countersign_activities (organization_id, id) WHERE waiting`,
	`CREATE UNIQUE INDEX IF NOT EXISTS countersign_activities_organization_id_id_idx1
		ON countersign_activities (organization_id, id) WHERE id IS NOT NULL`,
	// The expression keeps the index from fitting queries that find one row: see above.
	`CREATE INDEX IF NOT EXISTS countersign_activities_expr_type_status_id_idx
		ON countersign_activities ((organization_id || ''), type, status, id) WHERE id IS NOT NULL`,

	`CREATE TABLE IF NOT EXISTS countersign_ledgers (
		organization_id text COLLATE "C" NOT NULL,
		key             bytea NOT NULL,             -- kind 1 ‖ id 32
		value           bytea,                      -- null: no entry, the row is a lock
		keep_until      timestamptz NOT NULL,
		PRIMARY KEY (organization_id, key)
	)`,
	`CREATE INDEX IF NOT EXISTS countersign_ledgers_keep_until_idx ON countersign_ledgers (keep_until)`,

	`CREATE TABLE IF NOT EXISTS countersign_log_heads (
		organization_id text COLLATE "C" PRIMARY KEY,
		head            bytea NOT NULL              -- translog.Head; the row is the lock of the log
	)`,
	`CREATE TABLE IF NOT EXISTS countersign_log_leaves (
		organization_id text COLLATE "C" NOT NULL,
		index           bigint NOT NULL,
		id              text COLLATE "C" NOT NULL,
		leaf            bytea NOT NULL,
		hashes          bytea NOT NULL,             -- 32 bytes each
		PRIMARY KEY (organization_id, index)
	)`,
	`CREATE INDEX IF NOT EXISTS countersign_log_leaves_id_idx ON countersign_log_leaves (id)`,

	`CREATE TABLE IF NOT EXISTS countersign_outbox (
		organization_id text COLLATE "C" NOT NULL,
		id              text COLLATE "C" NOT NULL,
		activity        text COLLATE "C" NOT NULL,  -- empty: it is about none, and goes last
		revision        bigint NOT NULL DEFAULT 0,  -- of the activity; or the place among those that were added with it
		at              bigint NOT NULL,            -- milliseconds
		data            bytea NOT NULL,
		PRIMARY KEY (organization_id, id)
	)`,
	`ALTER TABLE countersign_outbox ADD COLUMN IF NOT EXISTS revision bigint NOT NULL DEFAULT 0`,
	`ALTER TABLE countersign_outbox DROP COLUMN IF EXISTS class, DROP COLUMN IF EXISTS place`,
	`ALTER TABLE countersign_outbox DROP CONSTRAINT IF EXISTS countersign_outbox_pkey,
		ADD PRIMARY KEY (organization_id, id)`,
	`DROP SEQUENCE IF EXISTS countersign_token, countersign_event`,
}

func setVersion(version int) string {
	return fmt.Sprint("UPDATE countersign_schema SET version = ", version)
}

// tables are the tables, the one of the version first.
var tables = []string{"countersign_schema", "countersign_activities", "countersign_ledgers", "countersign_log_heads",
	"countersign_log_leaves", "countersign_outbox"}

// migrate migrates the tables to the current version. It returns store.ErrNone, and writes
// nothing, if there are none and create is not set, and refuses a schema that has lost some.
func migrate(ctx context.Context, db *database, create bool) error {
	var schema string
	var missing []string
	version := 0
	err := db.run(ctx, func(ctx context.Context, q querier) (err error) {
		if schema, missing, err = missingTables(ctx, q); err != nil || slices.Contains(missing, tables[0]) {
			return err
		}
		err = q.QueryRow(ctx, `SELECT version FROM countersign_schema`).Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) { // it is as good as missing
			missing, err = append(tables[:1:1], missing...), nil
		}
		return err
	})
	none := len(missing) == len(tables)
	if version == 1 {
		missing = slices.DeleteFunc(missing, func(table string) bool { return table == "countersign_outbox" })
	}
	switch {
	case err != nil:
		return err
	case version > current:
		return fmt.Errorf("%w: the database has schema version %d, this program knows versions up to %d: use a newer "+
			"version", store.ErrUnavailable, version, current)
	case version < 0:
		return fmt.Errorf("%w: the database has schema version %d, which does not exist", store.ErrUnavailable, version)
	case none && !create:
		return fmt.Errorf("%w: %s has no tables of countersign", store.ErrNone, schema)
	case len(missing) > 0 && !none && version != migrating:
		return fmt.Errorf("%w: %s has lost %s: restore a backup (docs/operations.md#restore)", store.ErrUnavailable,
			schema, strings.Join(missing, ", "))
	case version == current:
		return nil
	}
	if none {
		err = makeVersion(ctx, db)
	}
	if err == nil {
		err = db.takeSteps(ctx)
	}
	if codeOf(err) == insufficientPrivilege {
		err = fmt.Errorf("%w: have a role that owns the schema create or migrate the tables "+
			"(docs/operations.md#managed-databases)", err)
	}
	return err
}

// missingTables returns the name of the schema, and which tables it does not have.
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
	return schema, missing, err
}

// makeVersion creates the table of the version with its only row, unless another node has, perhaps
// at the same moment.
func makeVersion(ctx context.Context, db *database) error {
	return db.run(ctx, func(ctx context.Context, q querier) error {
		_, made := q.Exec(ctx, `CREATE TABLE IF NOT EXISTS countersign_schema (
			version integer NOT NULL,
			one     boolean NOT NULL DEFAULT true UNIQUE)`)
		_, err := q.Exec(ctx, fmt.Sprintf(`INSERT INTO countersign_schema (version) SELECT %d
			WHERE NOT EXISTS (SELECT 1 FROM countersign_schema) ON CONFLICT DO NOTHING`, migrating))
		if err != nil {
			err = cmp.Or(made, err)
		}
		return err
	})
}

// lockVersion locks the row of the version until the transaction ends.
const lockVersion = `SELECT version FROM countersign_schema FOR UPDATE`

// takeSteps takes the steps, unless another node has. Nodes take turns.
func (db *database) takeSteps(ctx context.Context) error {
	all := slices.Clone(steps)
	compressible := false
	err := db.scan(ctx, &compressible, `SELECT EXISTS (SELECT 1 FROM pg_settings
		WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))`)
	if compressible { // records are JSON of a few kilobytes, and lz4 takes a fraction of the time of pglz
		all = append(all, `ALTER TABLE countersign_activities ALTER COLUMN data SET COMPRESSION lz4`)
	}
	for _, step := range append(all, setVersion(current)) {
		if err == nil {
			err = db.transact(ctx, func(ctx context.Context, q querier) error {
				version := 0
				err := q.QueryRow(ctx, lockVersion).Scan(&version)
				if err == nil && version < current {
					_, err = q.Exec(ctx, step)
				}
				return err
			})
		}
	}
	return err
}

// lockProof bounds how long a server may take to refuse a lock that is held, provesLocks the
// transaction that holds it.
const (
	lockProof   = 8 * time.Second
	provesLocks = time.Minute
)

// proveLocks refuses a server on which a second connection passes a lock that the first holds: limits,
// codes and logs need it. A server that takes no locks at the moment since it is read-only is not asked.
func proveLocks(ctx context.Context, db *database) error {
	err := db.transactIn(ctx, provesLocks, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, silentFor(provesLocks))
		if err == nil {
			_, err = q.Exec(ctx, lockVersion)
		}
		if err != nil {
			return err
		}
		other, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
		if err != nil {
			return err
		}
		defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
		bounded, cancel := context.WithTimeout(ctx, lockProof)
		defer cancel()
		engine := ""
		err = other.QueryRow(bounded, `SELECT version() FROM countersign_schema FOR UPDATE NOWAIT`,
			pgx.QueryExecModeExec).Scan(&engine)
		switch {
		case err == nil:
			return fmt.Errorf("%w: %s lets a second connection pass a lock that the first one holds: "+
				"name a server that keeps locks (docs/operations.md#which-servers)", store.ErrUnavailable, engine)
		case codeOf(err) == lockNotAvailable:
			return nil
		case bounded.Err() != nil && ctx.Err() == nil:
			return fmt.Errorf("%w: the server does not say within %v that a lock is held (FOR UPDATE NOWAIT): "+
				"name a server that keeps locks (docs/operations.md#which-servers)", store.ErrUnavailable, lockProof)
		}
		return err
	})
	if codeOf(err) == readOnlyTransaction {
		return nil
	}
	return err
}
