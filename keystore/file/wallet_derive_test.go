package file_test

import (
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

// TestDerive adds accounts, which another Store of the directory finds.
func TestDerive(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	other := reopen(t, store.Dir())
	for _, text := range []string{"m/44'/60'/0'/0/1", "m/44'/501'/1'/0'", "m"} {
		path, err := wallet.ParsePath(text)
		testenv.Must(t, err)
		account, err := store.Derive(t.Context(), "org", strings.ToUpper(w.ID), wallet.Account{Curve: wallet.CurveOf(path), Path: path})
		testenv.Must(t, err)
		w.Accounts = append(w.Accounts, account)
		key, err := other.Find(t.Context(), "org", keystore.Locators(account.PublicKey)[0])
		if err != nil || key.ID() != account.ID {
			t.Fatalf("%s in another Store: %v, %v", text, key, err)
		}
	}
	serves(t, store, w)
	serves(t, other, w)
	serves(t, reopen(t, store.Dir()), w)
	// The second address that Hardhat and Anvil print.
	if at := keystore.ByKeccak([20]byte(testenv.Hex(t, "70997970c51812dc3a010c7d01b50e0d17dc79c8"))); keystore.Locators(w.Accounts[7].PublicKey)[0] != at {
		t.Errorf("m/44'/60'/0'/0/1 is not at %v", at)
	}
	// The other Store continues from there and loses nothing.
	path, err := wallet.ParsePath("m/44'/60'/0'/0/2")
	testenv.Must(t, err)
	account, err := other.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveSecp256k1, Path: path})
	testenv.Must(t, err)
	w.Accounts = append(w.Accounts, account)
	serves(t, reopen(t, store.Dir()), w)
	if entries, err := os.ReadDir(filepath.Join(store.Dir(), "keys")); err != nil || len(entries) != 1 {
		t.Errorf("files: %v, %v, want the wallet's alone", entries, err)
	}
}

// TestDuplicateAccount: a wallet with a duplicate account could not be opened again and is not
// written.
func TestDuplicateAccount(t *testing.T) {
	store := create(t)
	ethereum, bitcoin := wallet.UsualAccounts()[0], wallet.UsualAccounts()[1]
	_, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords), Accounts: []wallet.Account{ethereum, bitcoin, ethereum}})
	if err == nil || !strings.Contains(err.Error(), "account 3, m/44'/60'/0'/0/0, is the same as account 1") {
		t.Errorf("added with %v", err)
	}
	if listed := ids(t, store, "org"); len(listed) != 0 {
		t.Errorf("%d keys were added", len(listed))
	}
	if again := reopen(t, store.Dir()); len(ids(t, again, "org")) != 0 {
		t.Error("the wallet was written")
	}
}

// TestDeriveConcurrently derives from several Stores of one directory at once. No account may
// be lost.
func TestDeriveConcurrently(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	const stores, each = 3, 8
	var done sync.WaitGroup
	for i := range stores {
		opened := reopen(t, store.Dir())
		done.Go(func() {
			for j := range each {
				path := wallet.Path{uint32(i), uint32(j)}
				if _, err := opened.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveSecp256k1, Path: path}); err != nil {
					t.Errorf("store %d, %v: %v", i, path, err)
				}
			}
		})
	}
	done.Wait()
	all, err := reopen(t, store.Dir()).Wallets(t.Context(), "org")
	if err != nil || len(all) != 1 || len(all[0].Accounts) != len(w.Accounts)+stores*each {
		t.Fatalf("%+v, %v", all, err)
	}
	serves(t, store, all[0])
}

// TestMaxAccounts fills a wallet to its limit.
func TestMaxAccounts(t *testing.T) {
	store := create(t)
	var accounts []wallet.Account
	for i := range file.MaxAccounts {
		accounts = append(accounts, wallet.Account{Curve: keystore.CurveEd25519, Path: wallet.Path{wallet.Hardened - 1 + wallet.Hardened, wallet.Hardened + uint32(i)}})
	}
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: strings.Repeat("n", file.MaxNameSize), Mnemonic: []byte(testWords), Accounts: accounts})
	testenv.Must(t, err)
	serves(t, reopen(t, store.Dir()), w)
	path := wallet.Path{wallet.Hardened}
	if _, err := store.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveEd25519, Path: path}); err == nil || !strings.Contains(err.Error(), "is full: it has 256 accounts") {
		t.Errorf("one more: %v", err)
	}
	accounts = append(accounts, wallet.Account{Curve: keystore.CurveEd25519, Path: path})
	if _, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords), Passphrase: []byte("x"), Accounts: accounts}); err == nil || !strings.Contains(err.Error(), "257 accounts, want 1 to 256") {
		t.Errorf("one too many: %v", err)
	}
}
