package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

const newSecret = 100 // of the key that is added

var newPassphrase = []byte("another one")

// template is a keystore to be copied, with one key, and perhaps a wallet with
// one account; and what it is after another process has added to it: an account
// of the wallet, or without one a key.
type template struct {
	before, after map[string][]byte // files, by their names in it
	first         keystore.KeyInfo  // the key
	wallet        file.Wallet
	other         file.Account // what is added
	names         map[string]string
}

// trial is one copy, on a disk of its own.
type trial struct {
	*template
	disk         *file.FaultyDisk
	dir          string
	store        *file.Store // that prepare has opened, if it has
	call         onDisk
	again        func() error
	err          error    // of the call
	acknowledged []string // as in the state
}

func newTemplate(t *testing.T, withWallet bool) *template {
	t.Helper()
	store := create(t)
	first, err := store.Generate("org", "first", keystore.CurveEd25519)
	must(t, err)
	base := &template{first: first, names: map[string]string{first.ID: "first"}}
	if withWallet {
		base.wallet, err = store.AddWallet("org", file.NewWallet{Name: "wallet", Mnemonic: []byte(testWords), Accounts: []wallet.Account{accountAt(t, 0)}})
		must(t, err)
		base.names[base.wallet.ID] = "wallet"
	}
	base.before = filesOf(t, store.Dir())
	if withWallet {
		base.other, err = store.Derive("org", base.wallet.ID, accountAt(t, 1))
	} else {
		base.other.KeyInfo, err = store.Generate("org", "other", keystore.CurveSecp256k1)
		base.names[base.other.ID] = "other"
	}
	must(t, err)
	base.after = filesOf(t, store.Dir())
	return base
}

// filesOf reads what is in a keystore.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		must(t, err)
		files[name], err = os.ReadFile(path)
		return err
	}))
	return files
}

func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
}

func accountAt(t *testing.T, index int) wallet.Account {
	t.Helper()
	path, err := wallet.ParsePath(fmt.Sprintf("m/44'/501'/%d'/0'", index))
	must(t, err)
	return wallet.Account{Curve: keystore.CurveEd25519, Path: path}
}

func (base *template) trial(t *testing.T) *trial {
	t.Helper()
	x := &trial{template: base, dir: filepath.Join(t.TempDir(), "keys"), disk: &file.FaultyDisk{Names: base.names}}
	must(t, os.MkdirAll(filepath.Join(x.dir, "keys"), 0o700), os.Chmod(x.dir, 0o700))
	write(t, x.dir, base.before)
	return x
}

// open opens the keystore on the trial's disk, for prepare.
func (x *trial) open(t *testing.T) *file.Store {
	t.Helper()
	store, err := file.OpenOn(t.Context(), x.disk, x.dir, passphrase, fast)
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	x.store = store
	return store
}

// addOther is what another process does.
func (x *trial) addOther(t *testing.T) {
	t.Helper()
	write(t, x.dir, x.after)
}

// state is what who opens the keystore finds: nothing if there is none.
func (x *trial) state(t *testing.T) (found []string) {
	t.Helper()
	for _, passphrase := range [][]byte{passphrase, newPassphrase} {
		store, err := file.Open(t.Context(), x.dir, passphrase, fast)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, file.ErrPassphrase):
			continue
		case err != nil:
			t.Fatalf("it does not open any more: %v", err)
		}
		defer store.Close()
		found = append(found, "a keystore with passphrase "+string(passphrase))
		for info, err := range store.Keys(t.Context(), "org") {
			must(t, err)
			found = append(found, keyState(info))
		}
		wallets, err := store.Wallets(t.Context(), "org")
		must(t, err)
		for _, w := range wallets {
			for _, account := range w.Accounts {
				found = append(found, fmt.Sprintf("account %v of wallet %s", account.Path, w.Name))
			}
		}
		slices.Sort(found)
		return found
	}
	t.Fatal("neither passphrase opens it")
	return nil
}

func keyState(info keystore.KeyInfo) string { return info.Name + " " + info.PublicKey.String() }

// left returns the error of a file that was left out, as BadFiles tells it, for
// a key that is not found because of that.
func (x *trial) left(err error) error {
	if bad := x.store.BadFiles(); errors.Is(err, keystore.ErrKeyNotFound) && len(bad) > 0 {
		return bad[0]
	}
	return err
}

// calls, with what is harmless by design: a lock that can only be opened for
// reading is as good; Open goes on if it cannot sweep; and a key file of which
// the version is not known (the lstat in front of those of reading it, and behind
// writing it) is read once more the next time.
var calls = []onDisk{
	{name: "Create", prepare: func(t *testing.T, x *trial) func() error {
		must(t, os.RemoveAll(x.dir))
		return func() error {
			store, err := file.CreateOn(x.disk, x.dir, passphrase, fast)
			if err != nil {
				return err
			}
			return store.Close()
		}
	}},
	{name: "Open", harmless: []string{"open lock", "flock lock", "open .", "readdir .", "open keys #1", "readdir keys #1", "lstat keys/first.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		return func() error {
			store, err := file.OpenOn(t.Context(), x.disk, x.dir, passphrase, fast)
			if err != nil {
				return err
			}
			x.disk.Arm(nil)
			if found := ids(t, store, "org"); len(found) != 1 {
				t.Errorf("%d keys are there", len(found))
			}
			return store.Close()
		}
	}},
	{name: "Add", harmless: []string{"open lock", "lstat keys/other.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			info, err := store.Add("org", file.Key{Name: "new", Curve: keystore.CurveEd25519, Secret: secret(newSecret)})
			if err == nil {
				x.acknowledged = append(x.acknowledged, keyState(info))
			}
			return err
		}
	}},
	{name: "AddBatch", inPart: true, harmless: []string{"open lock"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		keys := secp256k1Keys(newSecret, newSecret+2)
		keys = append(keys, keys[0])
		return func() error {
			infos, errs := store.AddBatch("org", keys)
			if errors.Is(errs[2], keystore.ErrKeyExists) {
				if errs[0] != nil && !errors.Is(errs[0], keystore.ErrKeyExists) {
					t.Errorf("the first of twins: %v, the second: %v", errs[0], errs[2])
				}
				errs[2] = errs[0]
			}
			for i, info := range infos {
				if errs[i] == nil {
					x.acknowledged = append(x.acknowledged, keyState(info))
				}
			}
			return errors.Join(errs...)
		}
	}},
	{name: "AddWallet", harmless: []string{"open lock", "lstat keys/*.age #2"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			_, err := store.AddWallet("org", file.NewWallet{Name: "new", Mnemonic: []byte(testWords), Accounts: []wallet.Account{accountAt(t, 9)}})
			return err
		}
	}},
	{name: "Derive", wallet: true, harmless: []string{"open lock", "lstat keys/wallet.age #1", "lstat keys/wallet.age #2", "lstat keys/wallet.age #3", "lstat keys/wallet.age #5"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			account, err := store.Derive("org", x.wallet.ID, accountAt(t, 9))
			if err == nil {
				x.acknowledged = append(x.acknowledged, keyState(account.KeyInfo))
			}
			return err
		}
	}},
	{name: "ChangePassphrase", harmless: []string{"open lock"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error { return store.ChangePassphrase(newPassphrase) }
	}},
	{name: "Find", harmless: []string{"lstat keys/other.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			_, err := store.Find(t.Context(), "org", keystore.ByID(x.other.ID))
			return x.left(err)
		}
	}},
	{name: "Find of a new account", wallet: true, harmless: []string{"lstat keys/wallet.age #1", "lstat keys/wallet.age #2"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			_, err := store.Find(t.Context(), "org", keystore.ByID(x.other.ID))
			return x.left(err)
		}
	}},
	{name: "Find of what is not there", harmless: []string{"lstat keys #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		must(t, agePast(x.dir))
		find := func() error {
			if _, err := store.Find(t.Context(), "org", keystore.ByID(stranger)); !errors.Is(err, keystore.ErrKeyNotFound) {
				return err
			}
			return nil
		}
		must(t, find())
		return find
	}},
	{name: "Keys", harmless: []string{"lstat keys/other.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			count := 0
			for _, err := range store.Keys(t.Context(), "org") {
				if err != nil {
					return err
				}
				count++
			}
			return x.complete(count == 2)
		}
	}},
	{name: "Wallets", wallet: true, harmless: []string{"lstat keys/wallet.age #1", "lstat keys/wallet.age #2"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			all, err := store.Wallets(t.Context(), "org")
			if err != nil {
				return err
			}
			return x.complete(len(all) == 1 && len(all[0].Accounts) == 2)
		}
	}},
	{name: "RevealMnemonic", wallet: true, harmless: []string{"lstat keys/wallet.age #1", "lstat keys/wallet.age #2"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			return store.RevealMnemonic(t.Context(), "org", x.wallet.ID, func(mnemonic, _ []byte) error {
				if string(mnemonic) != testWords {
					t.Error("these are other words")
				}
				return nil
			})
		}
	}},
	{name: "Close", prepare: func(t *testing.T, x *trial) func() error { return x.open(t).Close }},
}

// complete returns why a listing is not complete, as BadFiles tells it.
func (x *trial) complete(isComplete bool) error {
	if isComplete {
		return nil
	}
	return x.left(keystore.ErrKeyNotFound)
}

// agePast makes the directory of keys look as if it had not changed for long.
func agePast(dir string) error {
	longAgo := time.Now().Add(-time.Hour)
	return os.Chtimes(filepath.Join(dir, "keys"), longAgo, longAgo)
}
