package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/translog"
)

// adoptingVariable makes the victim a process that adopts the records of the file.
const adoptingVariable = "COUNTERSIGN_TEST_ADOPTING"

// adoptAll says that it begins, adopts, and says what came of it.
func adoptAll(path string) {
	s, err := bolt.Open(path)
	if err == nil {
		fmt.Println("begins")
		_, err = adopt(context.Background(), s)
	}
	fmt.Println("done", err)
}

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

// TestKillWhileAdopting kills a process while it adopts, later each time: the log is
// empty or whole, and the next process finishes it.
func TestKillWhileAdopting(t *testing.T) {
	testenv.Slow(t)
	const count = 3000
	from := filepath.Join(t.TempDir(), "store")
	fillFrom(t, from, count)
	whole, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for try := range 12 {
		path := filepath.Join(t.TempDir(), "store")
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		killWhileAdopting(t, path, time.Duration(try*try)*time.Millisecond)
		s := open(t, path)
		size := auditOf(t, s)
		if size != 0 && size != count {
			t.Errorf("killed: %d of %d are in the log", size, count)
		}
		sizes = append(sizes, size)
		if _, err := adopt(t.Context(), s); err != nil || auditOf(t, s) != count {
			t.Errorf("after it was killed: %v", err)
		}
	}
	t.Logf("leaves after each kill: %v", slices.Compact(sizes))
}

func killWhileAdopting(t *testing.T, path string, after time.Duration) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), victimVariable+"="+path, adoptingVariable+"=1")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "begins" {
		t.Errorf("it says %q", lines.Text())
	}
	time.Sleep(after) // any time will do
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
}
