package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// at calls do once, just before an operation, which must occur.
func (x *trial) at(t *testing.T, operation string, do func()) {
	t.Helper()
	var once sync.Once
	occurred := false
	x.disk.Arm(func(next string) file.Fault {
		if next == operation {
			once.Do(func() { occurred = true; do() })
		}
		return file.Fault{}
	})
	t.Cleanup(func() {
		if !occurred {
			t.Errorf("%s: no such operation", operation)
		}
	})
}

// path returns the path of a key file.
func (x *trial) path(id string) string { return filepath.Join(x.dir, "keys", id+".age") }

// TestChangedWhileOpened changes a key file between two steps of reading it. A file is
// refused unless it is the one that was checked.
func TestChangedWhileOpened(t *testing.T) {
	base := newTemplate(t, false)
	for _, c := range []struct {
		name, operation string
		change          func(path string) error
		want            string
	}{
		{"replaced", "open keys/first.age #1", func(path string) error {
			content, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+"2", content, 0o600), os.Rename(path+"2", path))
		}, "replaced while it was opened"},
		{"grown", "read keys/first.age #1", func(path string) error {
			grown, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = grown.WriteString("more")
			return errors.Join(err, grown.Close())
		}, "grew while it was read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := base.trial(t)
			x.at(t, c.operation, func() { testenv.Must(t, c.change(x.path(x.first.ID))) })
			_, err := file.OpenOn(t.Context(), x.disk, x.dir, passphrase, fast)
			bad, ok := errors.AsType[*file.BadFilesError](err)
			if !ok || !errors.Is(err, file.ErrPermissions) || !strings.Contains(err.Error(), c.want) || bad.Files[0].Path != x.path(x.first.ID) {
				t.Errorf("opened with %v, want %s to be refused: %s", err, x.path(x.first.ID), c.want)
			}
		})
	}
}

// TestRemovedWhileOpened: a file that was removed since it was listed is not bad.
func TestRemovedWhileOpened(t *testing.T) {
	x := newTemplate(t, false).trial(t)
	x.at(t, "open keys/first.age #1", func() { testenv.Must(t, os.Remove(x.path(x.first.ID))) })
	if found := ids(t, x.open(t), "org"); len(found) > 0 || len(x.store.Skipped()) > 0 {
		t.Errorf("found %v, bad files %v", found, x.store.Skipped())
	}
}

// TestCreateConcurrently creates two keystores in one directory at once. The second to get
// the lock leaves the first one's alone.
func TestCreateConcurrently(t *testing.T) {
	x := &trial{template: &template{}, dir: filepath.Join(t.TempDir(), "keys"), disk: &file.FaultyDisk{}}
	x.at(t, "open lock #1", func() {
		first, err := file.Create(x.dir, passphrase, fast)
		testenv.Must(t, err)
		_, err = first.Generate(t.Context(), "org", "first", keystore.CurveEd25519)
		testenv.Must(t, err, first.Close())
	})
	if _, err := file.CreateOn(x.disk, x.dir, newPassphrase, fast); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second: %v, want fs.ErrExist", err)
	}
	if found := ids(t, reopen(t, x.dir), "org"); len(found) != 1 {
		t.Errorf("the first's keystore has keys %v", found)
	}
}

// TestAddConcurrently adds the same key twice at once. The second to get the lock returns
// the existing key.
func TestAddConcurrently(t *testing.T) {
	x := newTemplate(t, false).trial(t)
	store, other := x.open(t), reopen(t, x.dir)
	key := keystore.NewKey{Name: "new", Curve: keystore.CurveEd25519, Secret: secret(newSecret)}
	var first keystore.KeyInfo
	x.at(t, "open lock #1", func() {
		var err error
		first, err = other.Add(t.Context(), "org", key)
		testenv.Must(t, err)
	})
	if info, err := store.Add(t.Context(), "org", key); !errors.Is(err, keystore.ErrKeyExists) || info != first {
		t.Errorf("the second: %v, %v, want ErrKeyExists and %v", info, err, first)
	}
	reopen(t, x.dir)
}

// TestCloseDuringCall closes a Store while it writes or reads keys. What was not
// acknowledged may be there or not, but whole.
func TestCloseDuringCall(t *testing.T) {
	for _, c := range []struct {
		name, operation string
		wallet          bool
		call            func(x *trial) error
	}{
		{"Add", "rename keys/*.age #1", false, func(x *trial) error {
			_, err := x.store.Add(t.Context(), "org", keystore.NewKey{Name: "new", Curve: keystore.CurveEd25519, Secret: secret(newSecret)})
			return err
		}},
		{"AddWallet", "rename keys/*.age #1", true, func(x *trial) error {
			_, err := x.store.AddWallet(t.Context(), "org", file.NewWallet{Name: "new", Mnemonic: []byte(testWords), Accounts: []wallet.Account{accountAt(t, 9)}})
			return err
		}},
		{"Derive", "rename keys/wallet.age #1", true, func(x *trial) error {
			_, err := x.store.Derive(t.Context(), "org", x.wallet.ID, accountAt(t, 9))
			return err
		}},
		{"Find", "read keys/other.age #1", false, func(x *trial) error {
			x.addOther(t)
			_, err := x.store.Find(t.Context(), "org", keystore.ByID(x.other.ID))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTemplate(t, c.wallet).trial(t)
			store := x.open(t)
			before := x.state(t)
			closed := make(chan error, 1)
			x.at(t, c.operation, func() {
				go func() { closed <- store.Close() }()
				for isOpen := true; isOpen; { // a known key is found until the Store is closed
					_, err := store.Find(t.Context(), "org", keystore.ByID(x.first.ID))
					isOpen = !errors.Is(err, keystore.ErrClosed)
				}
			})
			if err := c.call(x); !errors.Is(err, keystore.ErrClosed) {
				t.Errorf("%v, want ErrClosed", err)
			}
			testenv.Must(t, <-closed)
			if now := x.state(t); !contains(now, before) {
				t.Errorf("the state is %q, was %q", now, before)
			}
			if open := x.disk.Open(); open > 0 {
				t.Errorf("%d files stay open", open)
			}
		})
	}
}
