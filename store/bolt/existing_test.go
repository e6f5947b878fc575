package bolt_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// TestExisting: a file that is absent, empty or not laid out is no store, and stays as it
// is. Opening a store writes nothing either.
func TestExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	none := func(what string) {
		t.Helper()
		before, readErr := os.ReadFile(path)
		if _, err := bolt.OpenExisting(path); !errors.Is(err, store.ErrNone) {
			t.Errorf("%s: %v, want ErrNone", what, err)
		}
		after, err := os.ReadFile(path)
		if !bytes.Equal(before, after) || (err == nil) != (readErr == nil) {
			t.Errorf("%s: it was written to", what)
		}
	}
	none("absent")
	testenv.Write(t, path, nil)
	none("empty")
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = db.Close()
	}
	testenv.Must(t, err)
	none("not laid out")
	made, err := bolt.Open(path)
	if err == nil {
		err = made.Close()
	}
	testenv.Must(t, err)
	before := testenv.Read(t, path)
	for _, open := range []func(string) (*bolt.Store, error){bolt.OpenExisting, bolt.Open} {
		s, err := open(path)
		if err == nil {
			err = s.Close()
		}
		testenv.Must(t, err)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("opening a store writes to it: %v", err)
		}
	}
}
