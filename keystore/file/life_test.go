package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// twoProcesses opens one keystore twice: one Store makes changes, the other serves keys.
func twoProcesses(t *testing.T) (operator, server *file.Store) {
	t.Helper()
	operator = create(t)
	return operator, reopen(t, operator.Dir())
}

func generated(t *testing.T, store *file.Store, name string) keystore.KeyInfo {
	t.Helper()
	info, err := store.Generate(t.Context(), "org", name, keystore.CurveSecp256k1)
	testenv.Must(t, err)
	return info
}

func locatorsOf(t *testing.T, info keystore.KeyInfo) []keystore.Locator {
	t.Helper()
	taproot, err := keystore.TaprootLocator(info.PublicKey)
	testenv.Must(t, err)
	return append(keystore.Locators(info.PublicKey), keystore.ByID(info.ID), taproot)
}

// mustNotSign expects the key to be found at none of its locators, and an earlier handle to
// it to be withdrawn.
func mustNotSign(t *testing.T, store *file.Store, info keystore.KeyInfo, handle keystore.Key) {
	t.Helper()
	for _, at := range locatorsOf(t, info) {
		if _, err := store.Find(t.Context(), "org", at); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("found at %v: %v", at, err)
		}
	}
	signer, err := keystore.AsECDSA(handle)
	testenv.Must(t, err)
	if _, err := signer.SignECDSA(t.Context(), [32]byte{1}); !errors.Is(err, keystore.ErrWithdrawn) {
		t.Errorf("an earlier handle still signs: %v", err)
	}
	for listed, err := range store.Keys(t.Context(), "org") {
		if testenv.Must(t, err); listed.ID == info.ID {
			t.Error("it is listed among the keys that sign")
		}
	}
}

func find(t *testing.T, store *file.Store, at keystore.Locator) keystore.Key {
	t.Helper()
	key, err := store.Find(t.Context(), "org", at)
	testenv.Must(t, err)
	return key
}

func bitcoinAt(t *testing.T, index uint32) wallet.Account {
	t.Helper()
	path, err := wallet.ParsePath(fmt.Sprintf("m/84'/0'/0'/0/%d", index))
	testenv.Must(t, err)
	return wallet.Account{Curve: keystore.CurveSecp256k1, Path: path}
}

// TestDisabledKeyIsNotFound: a disabled key is not found by processes that have the keystore
// open, nor by one that opens it later, nor after it was renamed. Enabling brings it back.
func TestDisabledKeyIsNotFound(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	other := generated(t, operator, "other")
	handle := []keystore.Key{find(t, operator, keystore.ByID(info.ID)), find(t, server, keystore.ByID(info.ID))}
	for range 2 { // the second time does nothing
		testenv.Must(t, operator.Disable(t.Context(), "org", strings.ToUpper(info.ID)))
	}
	for i, store := range []*file.Store{operator, server} {
		mustNotSign(t, store, info, handle[i])
		disabled, err := store.Disabled(t.Context(), "org")
		testenv.Must(t, err)
		if !slices.Equal(disabled, []keystore.KeyInfo{info}) {
			t.Errorf("disabled: %+v", disabled)
		}
		if disabled, err := store.Disabled(t.Context(), "other org"); err != nil || len(disabled) > 0 {
			t.Errorf("another organization sees %v, %v", disabled, err)
		}
		find(t, store, keystore.ByID(other.ID))
	}
	later := reopen(t, operator.Dir())
	if _, err := later.Find(t.Context(), "org", keystore.ByID(info.ID)); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Error(err)
	}
	testenv.Must(t, later.Rename(t.Context(), "org", info.ID, "cold"))
	mustNotSign(t, server, info, handle[1])
	testenv.Must(t, later.Enable(t.Context(), "org", info.ID))
	info.Name = "cold"
	for _, store := range []*file.Store{operator, server, later} {
		for _, at := range locatorsOf(t, info) {
			if key := find(t, store, at); keystore.InfoOf(key) != info {
				t.Errorf("%+v, want %+v", keystore.InfoOf(key), info)
			}
		}
		if disabled, err := store.Disabled(t.Context(), "org"); err != nil || len(disabled) > 0 {
			t.Errorf("still disabled: %v, %v", disabled, err)
		}
	}
}

// TestDisabledKeyIsNotAddedAgain: a disabled key cannot be imported or derived again to make
// it sign.
func TestDisabledKeyIsNotAddedAgain(t *testing.T) {
	operator, server := twoProcesses(t)
	w, err := operator.AddWallet(t.Context(), "org", file.NewWallet{Name: "w", Mnemonic: []byte(testWords), Accounts: []wallet.Account{bitcoinAt(t, 0)}})
	testenv.Must(t, err)
	account := w.Accounts[0].KeyInfo
	var secret []byte
	testenv.Must(t, operator.RevealSecret(t.Context(), "org", account.ID, func(s []byte) error {
		secret = slices.Clone(s)
		return nil
	}))
	testenv.Must(t, server.Disable(t.Context(), "org", account.ID))
	if _, err := operator.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("added again: %v", err)
	}
	if _, err := operator.Derive(t.Context(), "org", w.ID, bitcoinAt(t, 0)); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("derived again: %v", err)
	}
	if err := operator.RevealSecret(t.Context(), "org", account.ID, func([]byte) error { return nil }); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("its secret is revealed: %v", err)
	}
	if _, err := operator.Find(t.Context(), "org", keystore.ByID(account.ID)); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Error(err)
	}
}

// TestDisabledAccount disables an account of a wallet, from which other accounts can still
// be derived, and then the whole wallet.
func TestDisabledAccount(t *testing.T) {
	operator, server := twoProcesses(t)
	w, err := operator.AddWallet(t.Context(), "org", file.NewWallet{Name: "w", Mnemonic: []byte(testWords), Accounts: []wallet.Account{bitcoinAt(t, 0), bitcoinAt(t, 1)}})
	testenv.Must(t, err)
	first, second := w.Accounts[0].KeyInfo, w.Accounts[1].KeyInfo
	handle := find(t, server, keystore.ByID(first.ID))
	testenv.Must(t, operator.Disable(t.Context(), "org", first.ID))
	mustNotSign(t, server, first, handle)
	accounts := func(store *file.Store) (ids []string) {
		found, err := store.FindWallet(t.Context(), "org", "w")
		testenv.Must(t, err)
		for _, account := range found.Accounts {
			ids = append(ids, account.ID)
		}
		return ids
	}
	if ids := accounts(server); !slices.Equal(ids, []string{second.ID}) {
		t.Errorf("enabled accounts: %v", ids)
	}
	third, err := server.Derive(t.Context(), "org", w.ID, bitcoinAt(t, 2))
	testenv.Must(t, err)
	if ids := accounts(operator); !slices.Equal(ids, []string{second.ID, third.ID}) {
		t.Errorf("enabled accounts after deriving: %v", ids)
	}
	testenv.Must(t, operator.Disable(t.Context(), "org", w.ID))
	if ids := accounts(server); len(ids) > 0 {
		t.Errorf("enabled accounts of a disabled wallet: %v", ids)
	}
	testenv.Must(t, operator.Enable(t.Context(), "org", w.ID))
	testenv.Must(t, operator.Rename(t.Context(), "org", w.ID, "treasury"))
	if got := keystore.InfoOf(find(t, server, keystore.ByID(first.ID))); got.Name != "treasury "+w.Accounts[0].Path.String() {
		t.Errorf("called %q", got.Name)
	}
	if err := operator.Rename(t.Context(), "org", first.ID, "x"); !errors.Is(err, file.ErrAccount) {
		t.Error(err)
	}
	if err := operator.Delete(t.Context(), "org", first.ID); !errors.Is(err, file.ErrAccount) {
		t.Error(err)
	}
}

// TestRenameKeepsHandles: renaming a key does not disturb requests that are using it.
func TestRenameKeepsHandles(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	handle := find(t, server, keystore.ByID(info.ID))
	testenv.Must(t, operator.Rename(t.Context(), "org", info.ID, "cold"))
	find(t, server, keystore.ByID(info.ID))
	signer, err := keystore.AsECDSA(handle)
	testenv.Must(t, err)
	if _, err := signer.SignECDSA(t.Context(), [32]byte{1}); err != nil {
		t.Error(err)
	}
	if name := keystore.InfoOf(handle).Name; name != "cold" {
		t.Errorf("called %q", name)
	}
	if err := operator.Rename(t.Context(), "org", info.ID, "c\x1bld"); err == nil || !strings.Contains(err.Error(), "control character") {
		t.Error(err)
	}
}

// TestDeletedKey: an archived key is gone from every process and can be restored once. A
// deleted one cannot be restored.
func TestDeletedKey(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	handle := find(t, server, keystore.ByID(info.ID))
	path, err := operator.Archive(t.Context(), "org", info.ID)
	testenv.Must(t, err)
	mustNotSign(t, server, info, handle)
	if path != filepath.Join(operator.Dir(), "deleted", info.ID+".age") {
		t.Errorf("the copy is at %s", path)
	}
	if stat, err := os.Lstat(path); err != nil || stat.Mode() != 0o600 {
		t.Errorf("the copy: %v, %v", stat, err)
	}
	reopen(t, operator.Dir())
	if err := server.Restore(t.Context(), "other", info.ID, ""); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("another organization restores it: %v", err)
	}
	testenv.Must(t, server.Restore(t.Context(), "org", info.ID, ""))
	if got := keystore.InfoOf(find(t, operator, keystore.ByID(info.ID))); got != info {
		t.Errorf("restored %+v, want %+v", got, info)
	}
	if err := server.Restore(t.Context(), "org", info.ID, ""); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("restored twice: %v", err)
	}
	testenv.Must(t, operator.Delete(t.Context(), "org", info.ID))
	mustNotSign(t, reopen(t, operator.Dir()), info, handle)
	if err := server.Restore(t.Context(), "org", info.ID, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("restored a deleted key: %v", err)
	}
}

// TestChangeOtherOrganization: no call changes a key of another organization.
func TestChangeOtherOrganization(t *testing.T) {
	operator, _ := twoProcesses(t)
	info := generated(t, operator, "hot")
	for name, call := range map[string]func() error{
		"rename":  func() error { return operator.Rename(t.Context(), "other", info.ID, "x") },
		"disable": func() error { return operator.Disable(t.Context(), "other", info.ID) },
		"enable":  func() error { return operator.Enable(t.Context(), "other", info.ID) },
		"act for": func() error { return operator.ActFor(t.Context(), "other", info.ID, strings.Repeat("11", 20)) },
		"delete":  func() error { return operator.Delete(t.Context(), "other", info.ID) },
		"archive": func() error {
			_, err := operator.Archive(t.Context(), "other", info.ID)
			return err
		},
	} {
		if err := call(); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	find(t, operator, keystore.ByID(info.ID))
}

// TestDamagedChangesFile: an incomplete record, a record of no key, or a file that is shorter
// than before, as after restoring a backup, hides no change.
func TestDamagedChangesFile(t *testing.T) {
	for name, damage := range map[string]func(before []byte) []byte{
		"cut":       func(before []byte) []byte { return before[:len(before)-5] },
		"nonsense":  func(before []byte) []byte { return append(before, "nonsense"...) },
		"empty":     func([]byte) []byte { return nil },
		"untouched": func(before []byte) []byte { return before },
	} {
		t.Run(name, func(t *testing.T) {
			operator, server := twoProcesses(t)
			one, two := generated(t, operator, "one"), generated(t, operator, "two")
			testenv.Must(t, operator.Rename(t.Context(), "org", one.ID, "uno"))
			handle := find(t, server, keystore.ByID(two.ID))
			path := filepath.Join(operator.Dir(), "changes")
			before := testenv.Read(t, path)
			testenv.Write(t, path, damage(before))
			testenv.Must(t, operator.Disable(t.Context(), "org", two.ID))
			mustNotSign(t, server, two, handle)
			find(t, server, keystore.ByID(one.ID))
		})
	}
}

// TestTamperedAfterChange: a process that had a key stops signing with it once its file no
// longer verifies.
func TestTamperedAfterChange(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	handle := find(t, server, keystore.ByID(info.ID))
	testenv.Must(t, operator.Rename(t.Context(), "org", info.ID, "cold"))
	path := filepath.Join(operator.Dir(), "keys", info.ID+".age")
	content := testenv.Read(t, path)
	content[len(content)-1] ^= 1
	testenv.Write(t, path, content)
	mustNotSign(t, server, info, handle)
	if skipped := server.Skipped(); len(skipped) != 1 || !errors.Is(skipped[0], file.ErrNotAuthentic) {
		t.Errorf("skipped: %v", skipped)
	}
}

// TestActsFor: the account is stored in the file, reported by the handle, and refused for
// keys that cannot act for another account.
func TestActsFor(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "access")
	root := strings.Repeat("ab", 20)
	testenv.Must(t, operator.ActFor(t.Context(), "org", info.ID, "0x"+strings.ToUpper(root)))
	for _, store := range []*file.Store{operator, server, reopen(t, operator.Dir())} {
		key := find(t, store, keystore.ByID(info.ID))
		if got := keystore.ActsFor(keystore.Verified(key)); string(got) != strings.Repeat("\xab", 20) {
			t.Errorf("acts for %x", got)
		}
		if got := keystore.InfoOf(key).ActsFor; got != root {
			t.Errorf("listed as acting for %s", got)
		}
	}
	testenv.Must(t, operator.ActFor(t.Context(), "org", info.ID, ""))
	if got := keystore.ActsFor(find(t, server, keystore.ByID(info.ID))); got != nil {
		t.Errorf("acts for %x", got)
	}
	solana, err := operator.Generate(t.Context(), "org", "sol", keystore.CurveEd25519)
	testenv.Must(t, err)
	for id, account := range map[string]string{info.ID: "abcd", solana.ID: root} {
		if err := operator.ActFor(t.Context(), "org", id, account); err == nil {
			t.Errorf("%s acts for %s", id, account)
		}
	}
}
