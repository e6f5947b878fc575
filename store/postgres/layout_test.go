package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// layouts made the schemas of versions 1 and 2.
var layouts = []string{
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

// layout returns what made the schema of a version.
func layout(version int) string {
	return strings.Join(layouts[:version], ";") + fmt.Sprintf(`;
		CREATE TABLE countersign_schema (version integer NOT NULL);
		INSERT INTO countersign_schema VALUES (%d)`, version)
}

// TestLayout1 opens a database of version 1 of the schema: everything in it is found, and what
// waits is carried out.
func TestLayout1(t *testing.T) {
	dsn := schema(t, testenv.Postgres(t))
	execute(t, dsn, layout(1))
	fillOld(t, dsn)
	interruptedMigration(t, dsn)
	s, err := postgres.OpenExisting(t.Context(), dsn)
	testenv.Must(t, err)
	defer func() { _ = s.Close() }()
	findOld(t, s)
	listed, err := s.List(t.Context(), "org", store.Filter{Types: []string{"TYPE_1"}, Statuses: []string{"WAITS"}, Limit: 10})
	if err != nil || len(listed) != 3 || listed[0].ID != "old 09" {
		t.Errorf("%+v, %v", listed, err)
	}
	claim := oldClaim(1)
	claim.Revision = 1
	begun, err := s.Begin(t.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		t.Fatalf("%+v, %v: want the lease on what waits", begun, err)
	}
	done := store.Activity{ID: "old 01", Type: "TYPE_1", Status: "DONE", Data: []byte("done"), Event: &store.Event{ID: "e", Data: []byte("{}")}}
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, done, nil))
	if events, _, err := s.Events(t.Context(), 10, nil); err != nil || len(events) != 1 || events[0].Activity != "old 01" {
		t.Errorf("%+v, %v", events, err)
	}
}

// fillOld records activities in a schema of an older version, of which each fourth waits.
func fillOld(t *testing.T, dsn string) {
	t.Helper()
	statements := ""
	for n := range 12 {
		statements += fmt.Sprintf(`;
			INSERT INTO countersign_activities (organization_id, fingerprint, token, nonce, lease_until, id,
				submitted_by, user_id, type, status, data, keep_until, waiting, revision)
			VALUES ('org', '\x%x', nextval('countersign_token'), 1, '-infinity', 'old %02[2]d', 'key',
				'user', 'TYPE_%d', '%s', 'record', now(), %t, 1)`,
			oldClaim(n).Fingerprint, n, n%2, map[bool]string{true: "WAITS", false: "DONE"}[n%4 == 1], n%4 == 1)
	}
	execute(t, dsn, statements)
}

// findOld expects what fillOld recorded.
func findOld(t *testing.T, s *postgres.Store) {
	t.Helper()
	for n := range 12 {
		found, err := store.Recorded(t.Context(), s, oldClaim(n))
		if err != nil || found == nil || found.ID != fmt.Sprintf("old %02d", n) || found.At != 0 {
			t.Errorf("%d: %+v, %v", n, found, err)
		}
		if _, err := s.Find(t.Context(), "org", oldClaim(n).Fingerprint); (n%4 == 1) != (err == nil) {
			t.Errorf("%d is found with %v: only those that waited are", n, err)
		}
	}
}

// oldClaim is the claim of a body of before, which names a time: version 1 did not keep it.
func oldClaim(n int) store.Claim {
	claim := store.Claim{OrganizationID: "org", LeaseTTL: time.Minute, Now: time.Now(), At: 1_795_000_000_000}
	copy(claim.Fingerprint[:], fmt.Sprint("old ", n))
	return claim
}

// interruptedMigration begins to bring the schema up to date while another transaction is in
// the way, and goes away: the schema is as it was.
func interruptedMigration(t *testing.T, dsn string) {
	t.Helper()
	other := connect(t, dsn)
	if _, err := other.Exec(t.Context(), "BEGIN; LOCK TABLE countersign_activities IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		s, err := postgres.OpenExisting(ctx, dsn)
		if err == nil {
			err = errors.Join(errors.New("opened"), s.Close())
		}
		ended <- err
	}()
	watcher := connect(t, dsn)
	for waits := false; !waits; {
		testenv.Must(t, watcher.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'countersign_activities'::regclass)`).Scan(&waits))
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	version := 0
	err := watcher.QueryRow(t.Context(), `SELECT version FROM countersign_schema`).Scan(&version)
	if err != nil || version != 1 {
		t.Errorf("version %d, %v: want 1", version, err)
	}
}
