package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestLayout1 opens a database of version 1 of the schema: everything in it is found, and what
// waits is carried out.
func TestLayout1(t *testing.T) {
	dsn := schema(t, testenv.Postgres(t))
	execute(t, dsn, postgres.Layout1())
	for n := range 12 {
		execute(t, dsn, fmt.Sprintf(`
			INSERT INTO countersign_activities (organization_id, fingerprint, token, nonce, lease_until, id, submitted_by, user_id, type, status, data, keep_until, waiting, revision)
			VALUES ('org', '\x%x', nextval('countersign_token'), 1, '-infinity', 'old %02[2]d', 'key', 'user', 'TYPE_%d', '%s', 'record', now(), %t, 1)`,
			oldClaim(n).Fingerprint, n, n%2, map[bool]string{true: "WAITS", false: "DONE"}[n%4 == 1], n%4 == 1))
	}
	interruptedMigration(t, dsn)
	s, err := postgres.OpenExisting(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for n := range 12 {
		found, err := store.Recorded(t.Context(), s, oldClaim(n))
		if err != nil || found == nil || found.ID != fmt.Sprintf("old %02d", n) || found.At != 0 {
			t.Errorf("%d: %+v, %v", n, found, err)
		}
		if _, err := s.Find(t.Context(), "org", oldClaim(n).Fingerprint); (n%4 == 1) != (err == nil) {
			t.Errorf("%d is found with %v: only those that waited are", n, err)
		}
	}
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
	if err := s.Complete(t.Context(), *begun.Lease, done, nil); err != nil {
		t.Fatal(err)
	}
	if events, _, err := s.Events(t.Context(), 10, nil); err != nil || len(events) != 1 || events[0].Activity != "old 01" {
		t.Errorf("%+v, %v", events, err)
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
		if err := watcher.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'countersign_activities'::regclass)`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	version := 0
	if err := watcher.QueryRow(t.Context(), `SELECT version FROM countersign_schema`).Scan(&version); err != nil || version != 1 {
		t.Errorf("version %d, %v: want 1", version, err)
	}
}
