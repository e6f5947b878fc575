package file_test

import (
	"errors"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
)

// TestFindWallet finds a wallet by its id, by its name if only one has it, and by
// its keys; never that of another organization.
func TestFindWallet(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	for _, at := range []string{w.ID, "test"} {
		found, err := store.FindWallet(t.Context(), "org", at)
		if err != nil || found.ID != w.ID || len(found.Accounts) != len(w.Accounts) {
			t.Fatalf("%s: %+v, %v", at, found, err)
		}
		for i, account := range found.Accounts {
			if account.KeyInfo != w.Accounts[i].KeyInfo || account.Path != w.Accounts[i].Path.String() {
				t.Errorf("account %d is %+v", i, account)
			}
		}
		if _, err := store.FindWallet(t.Context(), "other", at); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s is another organization's, too: %v", at, err)
		}
	}
	for _, account := range w.Accounts {
		if found, err := store.WalletOf(t.Context(), "org", account.ID); err != nil || found.ID != w.ID {
			t.Errorf("%s: %+v, %v", account.Path, found, err)
		}
		if _, err := store.WalletOf(t.Context(), "other", account.ID); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s is another organization's, too: %v", account.Path, err)
		}
	}
	for _, at := range []string{"", "Test", "no such wallet"} {
		if _, err := store.FindWallet(t.Context(), "org", at); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%q: %v", at, err)
		}
	}
	must(t, store.Close())
	if _, err := store.FindWallet(t.Context(), "org", w.ID); !errors.Is(err, keystore.ErrClosed) {
		t.Error(err)
	}
}
