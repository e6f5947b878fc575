package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/storetest"
)

func open(t testing.TB, path string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestContract does not wait for the disk: what the kernel has is safe while the machine runs.
func TestContract(t *testing.T) {
	paths := map[store.Store]string{}
	open := func(t testing.TB, path string) store.Store {
		s := open(t, path)
		s.WithoutSync()
		return s
	}
	storetest.Run(t, storetest.Harness{
		Open: func(t testing.TB) store.Store {
			path := filepath.Join(t.TempDir(), "store")
			s := open(t, path)
			paths[s] = path
			return s
		},
		Dump: func(t testing.TB, s store.Store) []byte {
			content := testenv.Read(t, paths[s])
			return content
		},
		Reopen: func(t testing.TB) func() store.Store {
			path := filepath.Join(t.TempDir(), "store")
			return func() store.Store { return open(t, path) }
		},
	})
}
