package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestKeystoreOfAnotherUser: root does not add keys to the keystore of a service, which could
// not read them. Root can read that keystore.
func TestKeystoreOfAnotherUser(t *testing.T) {
	testenv.Superuser(t)
	dir := filepath.Join(t.TempDir(), "keys")
	options := file.Options{WorkFactor: 1}
	store, err := file.Create(dir, []byte("passphrase"), options)
	testenv.Must(t, err)
	info, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	testenv.Must(t, err)
	const nobody = 65534
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, nobody, nobody))
	})
	testenv.Must(t, err)
	_, err = store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	mustRefuseOwner(t, err)
	mustRefuseOwner(t, store.ChangePassphrase([]byte("another")))
	if _, err := store.Find(t.Context(), "org", keystore.ByID(info.ID)); err != nil {
		t.Error(err)
	}
	testenv.Must(t, store.Close())
	empty := filepath.Join(t.TempDir(), "empty")
	testenv.Must(t, errors.Join(os.Mkdir(empty, 0o700), os.Chown(empty, nobody, nobody)))
	_, err = file.Create(empty, []byte("passphrase"), options)
	mustRefuseOwner(t, err)
	store, err = file.Open(t.Context(), dir, []byte("passphrase"), options)
	testenv.Must(t, err)
	testenv.Must(t, store.Close())
}

func mustRefuseOwner(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, file.ErrPermissions) || !strings.Contains(err.Error(), "run this as its owner, with 'sudo -u'") {
		t.Errorf("%v, want ErrPermissions and the cure", err)
	}
}
