package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// calls lists the calls and the operations that may fail harmlessly by design. A lock file
// that can only be opened for reading is sufficient. Open continues if it cannot sweep. A
// key file that cannot be read after a change is set aside and read again the next time. A
// file of unknown version (the lstat before reading it, and after writing it) is read once
// more the next time.
var calls = []onDisk{
	{name: "Create", prepare: func(t *testing.T, x *trial) func() error {
		testenv.Must(t, os.RemoveAll(x.dir))
		return x.create
	}},
	{name: "Create in new directories", prepare: func(t *testing.T, x *trial) func() error {
		testenv.Must(t, os.RemoveAll(x.dir))
		x.dir = filepath.Join(x.dir, "new", "newer")
		return x.create
	}},
	{name: "Open", harmless: []string{"open lock", "flock lock", "open .", "readdir .", "open keys #1", "readdir keys #1"}, prepare: func(t *testing.T, x *trial) func() error {
		return func() error {
			store, err := file.OpenOn(t.Context(), x.disk, x.dir, passphrase, fast)
			if err != nil {
				return err
			}
			x.disk.Arm(nil)
			if found := ids(t, store, "org"); len(found) != 1 {
				t.Errorf("%d keys, want 1", len(found))
			}
			return store.Close()
		}
	}},
	{name: "Add", harmless: []string{"open lock"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			info, err := store.Add(t.Context(), "org", keystore.NewKey{Name: "new", Curve: keystore.CurveEd25519, Secret: secret(newSecret)})
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
			infos, errs := store.AddBatch(t.Context(), "org", keys)
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
			_, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: "new", Mnemonic: []byte(testWords), Accounts: []wallet.Account{accountAt(t, 9)}})
			return err
		}
	}},
	{name: "Derive", wallet: true, harmless: []string{"open lock", "lstat keys/wallet.age #1", "lstat keys/wallet.age #2", "lstat keys/wallet.age #4"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			account, err := store.Derive(t.Context(), "org", x.wallet.ID, accountAt(t, 9))
			if err == nil {
				x.acknowledged = append(x.acknowledged, keyState(account.KeyInfo))
			}
			return err
		}
	}},
	{name: "Disable", harmless: []string{"open lock", "close changes", "lstat keys/first.age #2", "open keys/first.age #2", "stat keys/first.age #2", "read keys/first.age #3", "read keys/first.age #4"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error { return store.Disable(t.Context(), "org", x.first.ID) }
	}},
	{name: "Disable an account", wallet: true, harmless: []string{"open lock", "close changes", "lstat keys/wallet.age #1", "lstat keys/wallet.age #2", "lstat keys/wallet.age #4", "open keys/wallet.age #2", "stat keys/wallet.age #2", "read keys/wallet.age #3", "read keys/wallet.age #4"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error { return store.Disable(t.Context(), "org", x.wallet.Accounts[0].ID) }
	}},
	{name: "Archive", harmless: []string{"open lock", "close changes", "lstat keys/first.age #3", "lstat keys/first.age #4", "open keys/first.age #3", "stat keys/first.age #3", "read keys/first.age #5", "read keys/first.age #6", "closedir deleted"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			_, err := store.Archive(t.Context(), "org", x.first.ID)
			if errors.Is(err, keystore.ErrKeyNotFound) { // the second time
				return nil
			}
			return err
		}
	}},
	{name: "ChangePassphrase", harmless: []string{"open lock"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error { return store.ChangePassphrase(newPassphrase) }
	}},
	{name: "Find", prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			_, err := store.Find(t.Context(), "org", keystore.ByID(x.other.ID))
			return x.skipped(err)
		}
	}},
	{name: "Find of a new account", wallet: true, harmless: []string{"lstat keys/wallet.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		x.addOther(t)
		return func() error {
			_, err := store.Find(t.Context(), "org", keystore.ByID(x.other.ID))
			return x.skipped(err)
		}
	}},
	{name: "Find of a missing key", harmless: []string{"lstat keys #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		testenv.Must(t, settle(x.dir))
		find := func() error {
			if _, err := store.Find(t.Context(), "org", keystore.ByID(stranger)); !errors.Is(err, keystore.ErrKeyNotFound) {
				return err
			}
			return nil
		}
		testenv.Must(t, find())
		return find
	}},
	{name: "Keys", prepare: func(t *testing.T, x *trial) func() error {
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
	{name: "Wallets", wallet: true, harmless: []string{"lstat keys/wallet.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
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
	{name: "RevealMnemonic", wallet: true, harmless: []string{"lstat keys/wallet.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			return store.RevealMnemonic(t.Context(), "org", x.wallet.ID, func(mnemonic, _ []byte) error {
				if string(mnemonic) != testWords {
					t.Error("revealed another mnemonic")
				}
				return nil
			})
		}
	}},
	{name: "RevealRoot", wallet: true, harmless: []string{"lstat keys/wallet.age #1"}, prepare: func(t *testing.T, x *trial) func() error {
		store := x.open(t)
		return func() error {
			return store.RevealRoot(t.Context(), "org", x.wallet.ID, func(root *wallet.Root) error {
				if key, err := root.ExtendedKey(nil); err != nil || string(key) != masterKey {
					t.Error("revealed another key")
				}
				return nil
			})
		}
	}},
	{name: "Close", prepare: func(t *testing.T, x *trial) func() error { return x.open(t).Close }},
}

// complete returns why a listing is incomplete: the error of the skipped file.
func (x *trial) complete(isComplete bool) error {
	if isComplete {
		return nil
	}
	return x.skipped(keystore.ErrKeyNotFound)
}

// settle backdates the directory of keys, as if it had not changed for an hour.
func settle(dir string) error {
	longAgo := time.Now().Add(-time.Hour)
	return os.Chtimes(filepath.Join(dir, "keys"), longAgo, longAgo)
}

// skipped replaces ErrKeyNotFound by the error of the skipped file that caused it, if any.
func (x *trial) skipped(err error) error {
	if bad := x.store.Skipped(); errors.Is(err, keystore.ErrKeyNotFound) && len(bad) > 0 {
		return bad[0]
	}
	return err
}
