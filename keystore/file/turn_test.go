package file_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestWritersListOnce: a writer that adds keys one after the other lists the directory for
// the first alone, else adding n of them would cost n². The keys of another writer are
// found all the same: none is added twice.
func TestWritersListOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	made, err := file.Create(dir, passphrase, fast)
	must(t, err)
	must(t, made.Close())
	disk := &file.FaultyDisk{}
	store, err := file.OpenOn(t.Context(), disk, dir, passphrase, fast)
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	var listed atomic.Int32
	disk.Arm(func(operation string) file.Fault {
		if strings.HasPrefix(operation, "readdir keys ") {
			listed.Add(1)
		}
		return file.Fault{}
	})
	add := func(to *file.Store, number int) error {
		_, err := to.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(number)})
		return err
	}
	for number := range 20 {
		must(t, add(store, number+1))
	}
	if times := listed.Load(); times == 0 || times > 2 {
		t.Errorf("the directory was listed %d times for 20 keys, want once before the turn and once in it", times)
	}
	other := reopen(t, dir)
	for number := 50; number < 90; number += 2 {
		must(t, add(other, number))
		must(t, add(store, number+1))
		for name, err := range map[string]error{"the first": add(store, number), "the other": add(other, number+1)} {
			if !errors.Is(err, keystore.ErrKeyExists) {
				t.Fatalf("%s adds a key a second time: %v", name, err)
			}
		}
	}
	if many := len(ids(t, reopen(t, dir), "org")); many != 60 {
		t.Errorf("%d keys, want 60", many)
	}
}
