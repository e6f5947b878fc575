package file_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestCopy copies a keystore in use. The copy has the same keys, wallets, names and states,
// and restores keys that the original has lost.
func TestCopy(t *testing.T) {
	store := create(t)
	kept, off, gone := generated(t, store, "kept"), generated(t, store, "off"), generated(t, store, "gone")
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: "w", Mnemonic: []byte(testWords)})
	testenv.Must(t, err)
	testenv.Must(t, store.Disable(t.Context(), "org", off.ID))
	_, err = store.Archive(t.Context(), "org", gone.ID)
	testenv.Must(t, err)
	to := filepath.Join(t.TempDir(), "new", "backup")
	files, err := file.Copy(t.Context(), store.Dir(), to, fast)
	testenv.Must(t, err)
	if files != 4 {
		t.Errorf("%d files", files)
	}
	copied, err := file.Open(t.Context(), to, passphrase, fast)
	testenv.Must(t, err)
	defer copied.Close()
	if !slices.Equal(ids(t, copied, "org"), ids(t, store, "org")) {
		t.Error("the copy has other keys")
	}
	disabled, err := copied.Disabled(t.Context(), "org")
	testenv.Must(t, err)
	if !slices.Equal(disabled, []keystore.KeyInfo{off}) {
		t.Errorf("disabled: %v", disabled)
	}
	testenv.Must(t, copied.Restore(t.Context(), "org", gone.ID, ""))
	testenv.Must(t, store.Delete(t.Context(), "org", kept.ID))
	testenv.Must(t, store.Delete(t.Context(), "org", w.ID))
	for _, id := range []string{kept.ID, w.ID} {
		testenv.Must(t, store.Restore(t.Context(), "org", id, to))
	}
	if !slices.Equal(ids(t, copied, "org"), append(ids(t, store, "org"), gone.ID)) && len(ids(t, store, "org")) != 8 {
		t.Errorf("after restoring: %v", ids(t, store, "org"))
	}
}

// TestCopyRefuses: a target that is not empty, a source that is not a keystore, and files
// that other users can read. An interrupted copy cannot be opened.
func TestCopyRefuses(t *testing.T) {
	store := create(t)
	info := generated(t, store, "one")
	if _, err := file.Copy(t.Context(), store.Dir(), store.Dir(), fast); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto itself: %v", err)
	}
	if _, err := file.Copy(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "to"), fast); err == nil {
		t.Error("from an empty directory")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(t.TempDir(), "to")
	if _, err := file.Copy(cancelled, store.Dir(), to, fast); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := file.Open(t.Context(), to, passphrase, fast); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an interrupted copy opens: %v", err)
	}
	testenv.Must(t, os.Chmod(filepath.Join(store.Dir(), "keys", info.ID+".age"), 0o604))
	if _, err := file.Copy(t.Context(), store.Dir(), filepath.Join(t.TempDir(), "to"), fast); !errors.Is(err, file.ErrPermissions) {
		t.Errorf("readable by others: %v", err)
	}
}

// TestRestoreRefuses: a copy from another keystore, or under another name.
func TestRestoreRefuses(t *testing.T) {
	store, other := create(t), create(t)
	foreign, own := generated(t, other, "foreign"), generated(t, store, "own")
	if err := store.Restore(t.Context(), "org", foreign.ID, other.Dir()); !errors.Is(err, file.ErrNotAuthentic) {
		t.Errorf("foreign: %v", err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	_, err := file.Copy(t.Context(), store.Dir(), backup, fast)
	testenv.Must(t, err)
	testenv.Must(t, os.Rename(filepath.Join(backup, "keys", own.ID+".age"), filepath.Join(backup, "keys", stranger+".age")))
	before := filesOf(t, store.Dir())
	if err := store.Restore(t.Context(), "org", stranger, backup); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("renamed: %v", err)
	}
	if !maps.EqualFunc(before, filesOf(t, store.Dir()), func(a, b []byte) bool { return slices.Equal(a, b) }) {
		t.Error("something was written")
	}
}
