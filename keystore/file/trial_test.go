package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

const newSecret = 100 // number of the secret that trials add

var newPassphrase = []byte("another one")

// template is a keystore to be copied, with one key and optionally a wallet with one
// account, together with its state after another process has added an account of the
// wallet or, without a wallet, a key.
type template struct {
	before, after map[string][]byte // files, by path in the keystore
	first         keystore.KeyInfo  // the key
	wallet        file.Wallet
	other         file.Account // the account or key that is added
	names         map[string]string
}

// trial is one copy of a template, on its own disk.
type trial struct {
	*template
	disk         *file.FaultyDisk
	dir          string
	store        *file.Store // opened by prepare, if at all
	call         onDisk
	again        func() error
	err          error    // of the call
	acknowledged []string // as in the state
}

func (x *trial) create() error {
	store, err := file.CreateOn(x.disk, x.dir, passphrase, fast)
	if err != nil {
		return err
	}
	return store.Close()
}

func newTemplate(t *testing.T, withWallet bool) *template {
	t.Helper()
	store := create(t)
	first, err := store.Generate(t.Context(), "org", "first", keystore.CurveEd25519)
	testenv.Must(t, err)
	base := &template{first: first, names: map[string]string{first.ID: "first"}}
	if withWallet {
		base.wallet, err = store.AddWallet(t.Context(), "org", file.NewWallet{Name: "wallet", Mnemonic: []byte(testWords), Accounts: []wallet.Account{accountAt(t, 0)}})
		testenv.Must(t, err)
		base.names[base.wallet.ID] = "wallet"
	}
	base.before = filesOf(t, store.Dir())
	if withWallet {
		base.other, err = store.Derive(t.Context(), "org", base.wallet.ID, accountAt(t, 1))
	} else {
		base.other.KeyInfo, err = store.Generate(t.Context(), "org", "other", keystore.CurveSecp256k1)
		base.names[base.other.ID] = "other"
	}
	testenv.Must(t, err)
	base.after = filesOf(t, store.Dir())
	return base
}

// filesOf reads all files of a keystore.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	testenv.Must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		testenv.Must(t, err)
		files[name], err = os.ReadFile(path)
		return err
	}))
	return files
}

func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		testenv.Write(t, filepath.Join(dir, name), content)
	}
}

func accountAt(t *testing.T, index int) wallet.Account {
	t.Helper()
	path, err := wallet.ParsePath(fmt.Sprintf("m/44'/501'/%d'/0'", index))
	testenv.Must(t, err)
	return wallet.Account{Curve: keystore.CurveEd25519, Path: path}
}

func (base *template) trial(t *testing.T) *trial {
	t.Helper()
	x := &trial{template: base, dir: filepath.Join(t.TempDir(), "keys"), disk: &file.FaultyDisk{Names: base.names}}
	testenv.Must(t, os.MkdirAll(filepath.Join(x.dir, "keys"), 0o700), os.Chmod(x.dir, 0o700))
	write(t, x.dir, base.before)
	return x
}

// open opens the keystore on the trial's disk. It is for prepare.
func (x *trial) open(t *testing.T) *file.Store {
	t.Helper()
	store, err := file.OpenOn(t.Context(), x.disk, x.dir, passphrase, fast)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	x.store = store
	return store
}

// addOther writes the files that another process has added.
func (x *trial) addOther(t *testing.T) {
	t.Helper()
	write(t, x.dir, x.after)
}

// state opens the keystore and describes its content, nothing if there is no keystore.
func (x *trial) state(t *testing.T) (content []string) {
	t.Helper()
	for _, passphrase := range [][]byte{passphrase, newPassphrase} {
		store, err := file.Open(t.Context(), x.dir, passphrase, fast)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, file.ErrPassphrase):
			continue
		case err != nil:
			t.Fatalf("the keystore no longer opens: %v", err)
		}
		defer store.Close()
		content = append(content, "a keystore with passphrase "+string(passphrase))
		for info, err := range store.Keys(t.Context(), "org") {
			testenv.Must(t, err)
			content = append(content, keyState(info))
		}
		wallets, err := store.Wallets(t.Context(), "org")
		testenv.Must(t, err)
		for _, w := range wallets {
			for _, account := range w.Accounts {
				content = append(content, fmt.Sprintf("account %v of wallet %s", account.Path, w.Name))
			}
		}
		slices.Sort(content)
		return content
	}
	t.Fatal("neither passphrase opens it")
	return nil
}

func keyState(info keystore.KeyInfo) string { return info.Name + " " + info.PublicKey.String() }
