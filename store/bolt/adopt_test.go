package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/translog"
)

func adopt(ctx context.Context, s *bolt.Store) (int, error) {
	return store.Adopt(ctx, s, s, "org", func(recorded *store.Activity) ([]byte, error) {
		leaf := translog.NewLeaf("org", recorded.ID, recorded.Fingerprint, recorded.Data)
		return leaf.Encode()
	})
}

// auditOf hashes the log again and returns how many leaves it has.
func auditOf(t *testing.T, s *bolt.Store) int64 {
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

// TestFileFromBeforeTheLog is adopted: a file without the buckets of the log.
func TestFileFromBeforeTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	fillFrom(t, path, 3)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("log heads")), tx.DeleteBucket([]byte("log leaves")), tx.DeleteBucket([]byte("log indexes")))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if n, err := adopt(t.Context(), s); n != 3 || err != nil || auditOf(t, s) != 3 {
		t.Errorf("%d were adopted, %v", n, err)
	}
}

// fillFrom completes activities without a log.
func fillFrom(t *testing.T, path string, count int) {
	t.Helper()
	s, err := bolt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 64)
	for worker := range 64 {
		go func() {
			var failed error
			for i := worker; i < count; i += 64 {
				failed = errors.Join(failed, completeOne(t.Context(), s, fmt.Sprintf("%06d", i)))
			}
			errs <- failed
		}()
	}
	for range 64 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
