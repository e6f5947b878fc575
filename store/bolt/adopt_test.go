package bolt_test

import (
	"context"
	"errors"
	"testing"

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
	path := layout4(t)
	inFile(t, path, func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("log heads")), tx.DeleteBucket([]byte("log leaves")), tx.DeleteBucket([]byte("log indexes")))
	})
	s := open(t, path)
	if n, err := adopt(t.Context(), s); n != 10 || err != nil || auditOf(t, s) != 10 {
		t.Errorf("%d were adopted, %v", n, err)
	}
}
