package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestOpenOrCreate creates a keystore and then opens that one, also if several programs start
// at once.
func TestOpenOrCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "keys")
	open := func() (*file.Store, error) {
		return file.OpenOrCreate(t.Context(), dir, []byte("passphrase"), fast)
	}
	stores := make([]*file.Store, 4)
	var done sync.WaitGroup
	for i := range stores {
		done.Go(func() {
			var err error
			if stores[i], err = open(); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if t.Failed() {
		return
	}
	info, err := stores[0].Generate(t.Context(), "org", "", keystore.CurveEd25519)
	testenv.Must(t, err)
	again, err := open()
	testenv.Must(t, err)
	for _, store := range append(stores, again) {
		if _, err := store.Find(t.Context(), "org", keystore.ByID(info.ID)); err != nil {
			t.Errorf("another keystore: %v", err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := file.OpenOrCreate(t.Context(), dir, []byte("another"), fast); err == nil {
		t.Error("opened with another passphrase")
	}
}

// TestOpenOrCreateRefuses: keys whose identity is gone are never taken for an empty directory.
func TestOpenOrCreateRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.OpenOrCreate(t.Context(), dir, []byte("passphrase"), fast)
	testenv.Must(t, err)
	if _, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, store.Close())
	testenv.Must(t, os.Remove(filepath.Join(dir, "identity.age")))
	if store, err := file.OpenOrCreate(t.Context(), dir, []byte("passphrase"), fast); !errors.Is(err, fs.ErrExist) || store != nil {
		t.Errorf("%v, %v, want fs.ErrExist", store, err)
	}
	if store, err := file.OpenOrCreate(t.Context(), filepath.Join(t.TempDir(), "keys"), nil, fast); err == nil {
		t.Errorf("%v: created without a passphrase", store)
	}
}
