package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// TestAbandonedBegin: the caller of Begin gives up while its statement is at the
// database. The lease is not kept from the next who asks.
func TestAbandonedBegin(t *testing.T) {
	server := testenv.Postgres(t)
	dsn := schema(t, server)
	s := open(t, dsn)
	locker := connect(t, dsn)
	lock := func(statement string) {
		if _, err := locker.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	lock("BEGIN; LOCK countersign_activities IN EXCLUSIVE MODE")
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() {
		_, err := s.Begin(ctx, claimOf("a"), nil)
		answered <- err
	}()
	for count(t, dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0 {
	}
	cancel()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Fatalf("the caller that gave up: %v", err)
	}
	lock("ROLLBACK")
	begun, err := store.Acquire(t.Context(), s, claimOf("a"), time.Now, nil)
	if err != nil || begun.Lease == nil {
		t.Fatalf("the next caller: %+v, %v", begun, err)
	}
}

// TestConnections: there are as many as the address says, or the default.
func TestConnections(t *testing.T) {
	server := testenv.Postgres(t)
	for dsn, want := range map[string]int32{schema(t, server): 16, schema(t, server) + " pool_max_conns=3": 3} {
		if got := open(t, dsn).MaxConnections(); got != want {
			t.Errorf("%d connections at most, want %d", got, want)
		}
	}
}

// TestCompression: a long record is compressed with lz4 where the server has it.
func TestCompression(t *testing.T) {
	dsn := schema(t, testenv.Postgres(t))
	s := open(t, dsn)
	activity := activityOf("long")
	activity.Data = []byte(strings.Repeat("a record that can be compressed ", 200))
	testenv.Must(t, s.Complete(t.Context(), take(t, s, "long"), activity, nil))
	want := "pglz"
	if count(t, dsn, "SELECT count(*) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)") == 1 {
		want = "lz4"
	}
	if n := count(t, dsn, "SELECT count(*) FROM countersign_activities WHERE pg_column_compression(data) = $1", want); n != 1 {
		t.Errorf("%d records are compressed with %s, want 1", n, want)
	}
}
