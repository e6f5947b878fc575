package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// migrations are the versions of the schema, in their order. What has been
// released is never changed; a new version is added.
//
// A database that has no statistics of a table, as of a new one, takes the index that
// was made last of those that fit a query, and a connection keeps that plan. So each
// query has one index that fits it, or the right one was made last: the index of ids
// has only rows with an id, and the primary keys come behind the others. A statement for
// one row asks "revision = 0" for "id IS NULL", and "waiting IS NOT FALSE" for "waiting":
// the indexes of rows that have no id, and of rows that wait, do not fit it then.
var migrations = []string{
	`CREATE SEQUENCE countersign_token;

	CREATE TABLE countersign_activities (
		organization_id text COLLATE "C" NOT NULL,
		fingerprint     bytea NOT NULL,             -- SHA-256 of the request's body
		token           bigint NOT NULL,            -- fencing token of the lease
		nonce           bigint NOT NULL,            -- of the lease: a crash may take nextval back, and a token come again
		lease_until     timestamptz NOT NULL,       -- of a row that waits: -infinity unless it is being carried out
		id              text COLLATE "C",           -- set when recorded, as all that follows
		submitted_by    text,
		user_id         text COLLATE "C",
		type            text COLLATE "C",
		status          text COLLATE "C",
		data            bytea,
		keep_until      timestamptz,
		completed_at    timestamptz,
		waiting         boolean NOT NULL DEFAULT false,
		revision        bigint NOT NULL DEFAULT 0   -- 0: not recorded, there is a lease only
	);
	CREATE INDEX ON countersign_activities (lease_until) WHERE id IS NULL;
	CREATE INDEX ON countersign_activities (organization_id, id) WHERE waiting;
	CREATE UNIQUE INDEX ON countersign_activities (organization_id, id) WHERE id IS NOT NULL;
	ALTER TABLE countersign_activities ADD PRIMARY KEY (organization_id, fingerprint);

	CREATE TABLE countersign_ledgers (
		organization_id text COLLATE "C" NOT NULL,
		key             bytea NOT NULL,             -- kind 1 ‖ id 32
		value           bytea,                      -- null: not there, the row is a lock
		keep_until      timestamptz NOT NULL
	);
	CREATE INDEX ON countersign_ledgers (keep_until);
	ALTER TABLE countersign_ledgers ADD PRIMARY KEY (organization_id, key);

	CREATE TABLE countersign_log_heads (
		organization_id text COLLATE "C" PRIMARY KEY,
		head            bytea NOT NULL              -- translog.Head; its row is the lock of the log
	);
	CREATE TABLE countersign_log_leaves (
		organization_id text COLLATE "C" NOT NULL,
		index           bigint NOT NULL,
		id              text COLLATE "C" NOT NULL,
		leaf            bytea NOT NULL,
		hashes          bytea NOT NULL              -- 32 bytes each
	);
	CREATE INDEX ON countersign_log_leaves (id);
	ALTER TABLE countersign_log_leaves ADD PRIMARY KEY (organization_id, index);`,
}

// migrationLock keeps nodes that start at the same time from migrating at the
// same time: the first eight bytes of SHA-256("countersign schema"), without the
// sign.
const migrationLock = 0x52693096f96eac7f

// migrate brings the tables up to date, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	return s.transact(ctx, func(ctx context.Context, q querier) error {
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
}

// makeVersion makes the table of the version, if there is none: CREATE TABLE IF NOT
// EXISTS asks for the right to make tables even if there is one, and a node needs
// none while no table is to be changed.
func makeVersion(ctx context.Context, q querier) error {
	there := false
	err := q.QueryRow(ctx, `SELECT to_regclass(quote_ident(current_schema()) || '.countersign_schema') IS NOT NULL`).Scan(&there)
	if err != nil || there {
		return err
	}
	_, err = q.Exec(ctx, `CREATE TABLE countersign_schema (version integer NOT NULL)`)
	return err
}

func upgrade(ctx context.Context, q querier, version int) error {
	if version > len(migrations) {
		return fmt.Errorf("the database has schema version %d; this program knows %d: use a newer program", version, len(migrations))
	}
	if version < 0 {
		return fmt.Errorf("the database has schema version %d, which no program has made", version)
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
