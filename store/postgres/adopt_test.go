package postgres_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/translog"
)

func adopt(ctx context.Context, s *postgres.Store) (int, error) {
	return store.Adopt(ctx, s, s, "org", func(recorded *store.Activity) ([]byte, error) {
		leaf := translog.NewLeaf("org", recorded.ID, recorded.Fingerprint, recorded.Data)
		return leaf.Encode()
	})
}

func auditOf(t *testing.T, s *postgres.Store) int64 {
	t.Helper()
	seen, err := translog.Audit(t.Context(), store.LogOf(s, "org"), nil, func(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
		found, err := s.Get(ctx, leaf.Organization, leaf.ID)
		return found.Data, err
	})
	if err != nil {
		t.Error(err)
	}
	return seen.Leaves
}

// TestCrashWhileAdopting kills the database in the middle of the adoption, after the
// log was locked and before its leaves are there: it is empty, and the next call
// adopts all.
func TestCrashWhileAdopting(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	const records = 5
	for i := range records {
		complete(t, s, fmt.Sprint("before ", i))
	}
	holder, err := pgx.Connect(t.Context(), server.DSN)
	testenv.Must(t, err)
	defer func() { _ = holder.Close(context.Background()) }()
	for _, statement := range []string{"BEGIN", "LOCK TABLE countersign_log_leaves IN ACCESS EXCLUSIVE MODE"} {
		if _, err := holder.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	adopting, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := adopt(adopting, s)
		ended <- err
	}()
	for count(t, server.DSN, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%countersign_log_leaves%'") == 0 {
		runtime.Gosched()
	}
	cancel()
	server.Kill()
	server.Start()
	if err := <-ended; err == nil {
		t.Error("it was adopted by a database that was killed")
	}
	if size := auditOf(t, s); size != 0 {
		t.Errorf("%d leaves are there", size)
	}
	if n, err := adopt(t.Context(), s); n != records || err != nil || auditOf(t, s) != records {
		t.Errorf("after the crash: %d were adopted, %v", n, err)
	}
}
