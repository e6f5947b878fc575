package file_test

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestOnRead: opening tells how far it is, upwards and to the end; looking for one
// added key tells nothing.
func TestOnRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, fast)
	must(t, err)
	defer store.Close()
	const many = file.ReadStep + 10
	keys := make([]keystore.NewKey, many)
	for i := range keys {
		keys[i] = keystore.NewKey{Curve: keystore.CurveEd25519, Secret: make([]byte, keystore.SecretSize)}
		binary.BigEndian.PutUint64(keys[i].Secret, uint64(i)+1)
	}
	_, errs := store.AddBatch(t.Context(), "org", keys)
	for _, err := range errs {
		must(t, err)
	}

	var seen [][2]int
	options := fast
	options.OnRead = func(read, total int) { seen = append(seen, [2]int{read, total}) }
	opened, err := file.Open(t.Context(), dir, passphrase, options)
	must(t, err)
	defer opened.Close()
	if want := [][2]int{{file.ReadStep, many}, {many, many}}; !slices.Equal(seen, want) {
		t.Errorf("told of %v, want %v", seen, want)
	}
	added, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	must(t, err)
	_, err = opened.Find(t.Context(), "org", keystore.ByID(added.ID))
	must(t, err)
	if len(seen) != 2 {
		t.Errorf("told of one key: %v", seen)
	}
}
