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

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// twoProcesses opens one keystore twice: what one changes, the other serves.
func twoProcesses(t *testing.T) (operator, server *file.Store) {
	t.Helper()
	operator = create(t)
	return operator, openAgain(t, operator)
}

func openAgain(t *testing.T, store *file.Store) *file.Store {
	t.Helper()
	again, err := file.Open(t.Context(), store.Dir(), passphrase, fast)
	must(t, err)
	t.Cleanup(func() { _ = again.Close() })
	return again
}

func generated(t *testing.T, store *file.Store, name string) keystore.KeyInfo {
	t.Helper()
	info, err := store.Generate(t.Context(), "org", name, keystore.CurveSecp256k1)
	must(t, err)
	return info
}

func places(t *testing.T, info keystore.KeyInfo) []keystore.Locator {
	t.Helper()
	taproot, err := keystore.TaprootLocator(info.PublicKey)
	must(t, err)
	return append(keystore.Locators(info.PublicKey), keystore.ByID(info.ID), taproot)
}

// mustNotSign: the key is at none of its places, and a handle to it signs no more.
func mustNotSign(t *testing.T, store *file.Store, info keystore.KeyInfo, held keystore.Key) {
	t.Helper()
	for _, at := range places(t, info) {
		if _, err := store.Find(t.Context(), "org", at); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("found at %v: %v", at, err)
		}
	}
	signer, err := keystore.AsECDSA(held)
	must(t, err)
	if _, err := signer.SignECDSA(t.Context(), [32]byte{1}); !errors.Is(err, keystore.ErrWithdrawn) {
		t.Errorf("a handle from before still signs: %v", err)
	}
	for listed, err := range store.Keys(t.Context(), "org") {
		if must(t, err); listed.ID == info.ID {
			t.Error("it is listed among the keys that sign")
		}
	}
}

func find(t *testing.T, store *file.Store, at keystore.Locator) keystore.Key {
	t.Helper()
	key, err := store.Find(t.Context(), "org", at)
	must(t, err)
	return key
}

func bitcoinAt(t *testing.T, index uint32) wallet.Account {
	t.Helper()
	path, err := wallet.ParsePath(fmt.Sprintf("m/84'/0'/0'/0/%d", index))
	must(t, err)
	return wallet.Account{Curve: keystore.CurveSecp256k1, Path: path}
}

// TestDisabledKeyIsNotFound: in no process that has the keystore open, nor in one that
// opens it later, nor under another name; and it is back when it is enabled.
func TestDisabledKeyIsNotFound(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	other := generated(t, operator, "other")
	held := []keystore.Key{find(t, operator, keystore.ByID(info.ID)), find(t, server, keystore.ByID(info.ID))}
	for range 2 { // again does nothing
		must(t, operator.Disable(t.Context(), "org", strings.ToUpper(info.ID)))
	}
	for i, store := range []*file.Store{operator, server} {
		mustNotSign(t, store, info, held[i])
		disabled, err := store.Disabled(t.Context(), "org")
		must(t, err)
		if !slices.Equal(disabled, []keystore.KeyInfo{info}) {
			t.Errorf("disabled: %+v", disabled)
		}
		if of, err := store.Disabled(t.Context(), "other org"); err != nil || len(of) > 0 {
			t.Errorf("another organization sees %v, %v", of, err)
		}
		find(t, store, keystore.ByID(other.ID))
	}
	later := openAgain(t, operator)
	if _, err := later.Find(t.Context(), "org", keystore.ByID(info.ID)); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Error(err)
	}
	must(t, later.Rename(t.Context(), "org", info.ID, "cold"))
	mustNotSign(t, server, info, held[1])
	must(t, later.Enable(t.Context(), "org", info.ID))
	info.Name = "cold"
	for _, store := range []*file.Store{operator, server, later} {
		for _, at := range places(t, info) {
			if key := find(t, store, at); keystore.InfoOf(key) != info {
				t.Errorf("%+v, want %+v", keystore.InfoOf(key), info)
			}
		}
		if disabled, err := store.Disabled(t.Context(), "org"); err != nil || len(disabled) > 0 {
			t.Errorf("still disabled: %v, %v", disabled, err)
		}
	}
}

// TestDisabledKeyIsNotAddedAgain: importing its secret, or deriving it in a wallet, is
// no way to have it sign.
func TestDisabledKeyIsNotAddedAgain(t *testing.T) {
	operator, server := twoProcesses(t)
	w, err := operator.AddWallet(t.Context(), "org", file.NewWallet{Name: "w", Mnemonic: []byte(testWords), Accounts: []wallet.Account{bitcoinAt(t, 0)}})
	must(t, err)
	account := w.Accounts[0].KeyInfo
	var secret []byte
	must(t, operator.RevealSecret(t.Context(), "org", account.ID, func(s []byte) error {
		secret = slices.Clone(s)
		return nil
	}))
	must(t, server.Disable(t.Context(), "org", account.ID))
	if _, err := operator.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("added again: %v", err)
	}
	if _, err := operator.Derive(t.Context(), "org", w.ID, bitcoinAt(t, 0)); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("derived again: %v", err)
	}
	if err := operator.RevealSecret(t.Context(), "org", account.ID, func([]byte) error { return nil }); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("its secret is given out: %v", err)
	}
	if _, err := operator.Find(t.Context(), "org", keystore.ByID(account.ID)); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Error(err)
	}
}

// TestDisabledAccount: of a wallet, which is otherwise as it was, and can be derived
// from; and a whole wallet.
func TestDisabledAccount(t *testing.T) {
	operator, server := twoProcesses(t)
	w, err := operator.AddWallet(t.Context(), "org", file.NewWallet{Name: "w", Mnemonic: []byte(testWords), Accounts: []wallet.Account{bitcoinAt(t, 0), bitcoinAt(t, 1)}})
	must(t, err)
	first, second := w.Accounts[0].KeyInfo, w.Accounts[1].KeyInfo
	held := find(t, server, keystore.ByID(first.ID))
	must(t, operator.Disable(t.Context(), "org", first.ID))
	mustNotSign(t, server, first, held)
	accounts := func(store *file.Store) (ids []string) {
		found, err := store.FindWallet(t.Context(), "org", "w")
		must(t, err)
		for _, account := range found.Accounts {
			ids = append(ids, account.ID)
		}
		return ids
	}
	if ids := accounts(server); !slices.Equal(ids, []string{second.ID}) {
		t.Errorf("the wallet signs with %v", ids)
	}
	third, err := server.Derive(t.Context(), "org", w.ID, bitcoinAt(t, 2))
	must(t, err)
	if ids := accounts(operator); !slices.Equal(ids, []string{second.ID, third.ID}) {
		t.Errorf("after deriving it signs with %v", ids)
	}
	must(t, operator.Disable(t.Context(), "org", w.ID))
	if ids := accounts(server); len(ids) > 0 {
		t.Errorf("disabled, it signs with %v", ids)
	}
	must(t, operator.Enable(t.Context(), "org", w.ID))
	must(t, operator.Rename(t.Context(), "org", w.ID, "treasury"))
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

// TestRenameKeepsHandles: a request under way is not disturbed by it.
func TestRenameKeepsHandles(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	held := find(t, server, keystore.ByID(info.ID))
	must(t, operator.Rename(t.Context(), "org", info.ID, "cold"))
	find(t, server, keystore.ByID(info.ID))
	signer, err := keystore.AsECDSA(held)
	must(t, err)
	if _, err := signer.SignECDSA(t.Context(), [32]byte{1}); err != nil {
		t.Error(err)
	}
	if name := keystore.InfoOf(held).Name; name != "cold" {
		t.Errorf("called %q", name)
	}
	if err := operator.Rename(t.Context(), "org", info.ID, "c\x1bld"); err == nil || !strings.Contains(err.Error(), "control character") {
		t.Error(err)
	}
}

// TestDeletedKey: gone from every process; its copy brings it back, once; without one
// it does not come back.
func TestDeletedKey(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	held := find(t, server, keystore.ByID(info.ID))
	at, err := operator.Archive(t.Context(), "org", info.ID)
	must(t, err)
	mustNotSign(t, server, info, held)
	if at != filepath.Join(operator.Dir(), "deleted", info.ID+".age") {
		t.Errorf("the copy is at %s", at)
	}
	if stat, err := os.Lstat(at); err != nil || stat.Mode() != 0o600 {
		t.Errorf("the copy: %v, %v", stat, err)
	}
	openAgain(t, operator)
	if err := server.Restore(t.Context(), "other", info.ID, ""); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("another organization restores it: %v", err)
	}
	must(t, server.Restore(t.Context(), "org", info.ID, ""))
	if got := keystore.InfoOf(find(t, operator, keystore.ByID(info.ID))); got != info {
		t.Errorf("restored %+v, want %+v", got, info)
	}
	if err := server.Restore(t.Context(), "org", info.ID, ""); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("restored twice: %v", err)
	}
	must(t, operator.Delete(t.Context(), "org", info.ID))
	mustNotSign(t, openAgain(t, operator), info, held)
	if err := server.Restore(t.Context(), "org", info.ID, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("restored from nothing: %v", err)
	}
}

// TestLifeHasWalls: a key of another organization is not found, by any call.
func TestLifeHasWalls(t *testing.T) {
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

// TestChangesOfACrash: a record that was begun, or is of no key, or a file that is
// shorter than before, as after a backup was put back, hides no change.
func TestChangesOfACrash(t *testing.T) {
	for name, damage := range map[string]func(before []byte) []byte{
		"cut":       func(before []byte) []byte { return before[:len(before)-5] },
		"nonsense":  func(before []byte) []byte { return append(before, "nonsense"...) },
		"empty":     func([]byte) []byte { return nil },
		"untouched": func(before []byte) []byte { return before },
	} {
		t.Run(name, func(t *testing.T) {
			operator, server := twoProcesses(t)
			one, two := generated(t, operator, "one"), generated(t, operator, "two")
			must(t, operator.Rename(t.Context(), "org", one.ID, "uno"))
			held := find(t, server, keystore.ByID(two.ID))
			path := filepath.Join(operator.Dir(), "changes")
			before, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, damage(before), 0o600))
			must(t, operator.Disable(t.Context(), "org", two.ID))
			mustNotSign(t, server, two, held)
			find(t, server, keystore.ByID(one.ID))
		})
	}
}

// TestTamperedAfterChange: a file that was exchanged for one that does not verify is
// not signed with, in a process that had the key before.
func TestTamperedAfterChange(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "hot")
	held := find(t, server, keystore.ByID(info.ID))
	must(t, operator.Rename(t.Context(), "org", info.ID, "cold"))
	path := filepath.Join(operator.Dir(), "keys", info.ID+".age")
	content, err := os.ReadFile(path)
	must(t, err)
	content[len(content)-1] ^= 1
	must(t, os.WriteFile(path, content, 0o600))
	mustNotSign(t, server, info, held)
	if skipped := server.Skipped(); len(skipped) != 1 || !errors.Is(skipped[0], file.ErrNotAuthentic) {
		t.Errorf("skipped: %v", skipped)
	}
}

// TestActsFor: kept in the file, told by the handle, and refused where it means
// nothing.
func TestActsFor(t *testing.T) {
	operator, server := twoProcesses(t)
	info := generated(t, operator, "access")
	root := strings.Repeat("ab", 20)
	must(t, operator.ActFor(t.Context(), "org", info.ID, "0x"+strings.ToUpper(root)))
	for _, store := range []*file.Store{operator, server, openAgain(t, operator)} {
		key := find(t, store, keystore.ByID(info.ID))
		if got := keystore.ActsFor(keystore.Verified(key)); string(got) != strings.Repeat("\xab", 20) {
			t.Errorf("acts for %x", got)
		}
		if got := keystore.InfoOf(key).ActsFor; got != root {
			t.Errorf("listed as acting for %s", got)
		}
	}
	must(t, operator.ActFor(t.Context(), "org", info.ID, ""))
	if got := keystore.ActsFor(find(t, server, keystore.ByID(info.ID))); got != nil {
		t.Errorf("acts for %x", got)
	}
	solana, err := operator.Generate(t.Context(), "org", "sol", keystore.CurveEd25519)
	must(t, err)
	for id, account := range map[string]string{info.ID: "abcd", solana.ID: root} {
		if err := operator.ActFor(t.Context(), "org", id, account); err == nil {
			t.Errorf("%s acts for %s", id, account)
		}
	}
}
