package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// TestLeaseLostInCrash kills the database after a lease was taken without waiting
// for the disk. The lease is gone, and another node takes the work: the first one's
// Complete is refused, and the other's is not. What was completed has stayed.
func TestLeaseLostInCrash(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	execute(t, server.DSN, "ALTER SYSTEM SET wal_writer_delay = '10s'") // the longest: so that nothing else writes it
	execute(t, server.DSN, "SELECT pg_reload_conf()")
	const attempts = 20
	for attempt := range attempts {
		done, body := fmt.Sprint("done ", attempt), fmt.Sprint("lost ", attempt)
		complete(t, s, done)
		first := take(t, s, body)
		server.Kill()
		server.Start()
		if got, err := s.Get(t.Context(), "org", done); err != nil || string(got.Data) != "record of "+done {
			t.Fatalf("what was completed before: %q, %v", got.Data, err)
		}
		const leases = "SELECT count(*) FROM countersign_activities WHERE id IS NULL AND lease = $1"
		if count(t, server.DSN, leases, first.Token[:]) != 0 {
			testenv.Must(t, s.Release(t.Context(), first, nil))
			continue // it had been written by chance
		}
		second := take(t, s, body)
		refusedAfterCrash(t, s, first)
		if err := s.Complete(t.Context(), second, activityOf(body), nil); err != nil {
			t.Fatalf("the lease of the successor: %v", err)
		}
		return
	}
	t.Fatalf("no lease was lost in %d crashes: Begin waits for the disk", attempts)
}

// refusedAfterCrash expects that nothing can be done with a lease.
func refusedAfterCrash(t *testing.T, s store.Store, lost store.Lease) {
	t.Helper()
	nothing := store.ChangeFunc(func(store.Ledger) (refusal, err error) { return nil, nil })
	_, renewed := s.Renew(t.Context(), lost, claimOf("").LeaseTTL, claimOf("").Now)
	for name, err := range map[string]error{
		"complete":               s.Complete(t.Context(), lost, activityOf("zombie"), nil),
		"complete with a change": s.Complete(t.Context(), lost, activityOf("zombie"), nothing),
		"renew":                  renewed,
		"release":                s.Release(t.Context(), lost, nil),
	} {
		if !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("%s with a lease that was lost in a crash: %v", name, err)
		}
	}
}

// TestChangeOutlivesCrash: a lease that comes with a change waits for the disk.
func TestChangeOutlivesCrash(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	held := fill(t, s)
	server.Kill()
	server.Start()
	if err := s.Complete(t.Context(), held, activityOf("held"), nil); err != nil {
		t.Fatalf("the lease outlives the crash: %v", err)
	}
}

func take(t *testing.T, s store.Store, body string) store.Lease {
	t.Helper()
	begun, err := s.Begin(t.Context(), claimOf(body), nil)
	if err != nil || begun.Lease == nil {
		t.Fatalf("%+v, %v: want a lease", begun, err)
	}
	return *begun.Lease
}

func count(t *testing.T, dsn, query string, arguments ...any) (n int) {
	t.Helper()
	connection := connect(t, dsn)
	defer func() { _ = connection.Close(t.Context()) }()
	testenv.Must(t, connection.QueryRow(t.Context(), query, arguments...).Scan(&n))
	return n
}
