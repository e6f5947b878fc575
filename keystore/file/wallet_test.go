package file_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

const (
	testWords   = "test test test test test test test test test test test junk" // used by Hardhat and Anvil
	testAddress = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266"                    // its first address, as they print it
)

func addWallet(t *testing.T, store *file.Store) file.Wallet {
	t.Helper()
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: "test", Mnemonic: []byte(testWords)})
	testenv.Must(t, err)
	return w
}

// serves checks that every account of the wallet is found at all its locators, in its
// organization alone, and signs.
func serves(t *testing.T, store *file.Store, w file.Wallet) {
	t.Helper()
	for _, account := range w.Accounts {
		locators := append(keystore.Locators(account.PublicKey), keystore.ByID(account.ID))
		if account.Curve == keystore.CurveSecp256k1 {
			locators = locatorsOf(t, account.KeyInfo)
		}
		for _, at := range locators {
			key, err := store.Find(t.Context(), "org", at)
			if err != nil || key.ID() != account.ID || key.PublicKey() != account.PublicKey {
				t.Fatalf("account %v at %v: %v, %v", account.Path, at, key, err)
			}
			if _, err := store.Find(t.Context(), "other", at); !errors.Is(err, keystore.ErrKeyNotFound) {
				t.Errorf("account %v is found in another organization: %v", account.Path, err)
			}
		}
		key, err := store.Find(t.Context(), "org", keystore.ByID(account.ID))
		testenv.Must(t, err)
		if account.Curve == keystore.CurveEd25519 {
			_, err = keystore.Verified(key).(keystore.Ed25519Signer).SignEd25519(t.Context(), []byte("message"))
		} else {
			_, err = keystore.Verified(key).(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{1})
		}
		testenv.Must(t, err)
	}
}

func TestWallet(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	if len(w.Accounts) != len(wallet.UsualAccounts()) || w.Accounts[0].Name != "test m/44'/60'/0'/0/0" {
		t.Fatalf("%+v", w)
	}
	if at := keystore.Locators(w.Accounts[0].PublicKey)[0]; at != keystore.ByKeccak([20]byte(testenv.Hex(t, testAddress))) {
		t.Errorf("the first account is at %v, not at %s", at, testAddress)
	}
	serves(t, store, w)
	again := reopen(t, store.Dir())
	serves(t, again, w)
	all, err := again.Wallets(t.Context(), "org")
	if err != nil || len(all) != 1 || !equalWallets(all[0], w) {
		t.Errorf("reopened: %+v, %v, want %+v", all, err, w)
	}
	if all, err := again.Wallets(t.Context(), "other"); err != nil || len(all) != 0 {
		t.Errorf("wallets of another organization: %v, %v", all, err)
	}
	if listed := ids(t, again, "org"); len(listed) != len(w.Accounts) {
		t.Errorf("listed: %v", listed)
	}
}

func equalWallets(a, b file.Wallet) bool {
	return a.ID == b.ID && a.Name == b.Name && a.CreatedAt.Equal(b.CreatedAt) &&
		slices.EqualFunc(a.Accounts, b.Accounts, func(a, b file.Account) bool {
			return a.KeyInfo == b.KeyInfo && a.Curve == b.Curve && slices.Equal(a.Path, b.Path)
		})
}

func TestWalletRefused(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	if again, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords)}); !errors.Is(err, keystore.ErrKeyExists) || !equalWallets(again, w) {
		t.Errorf("the same wallet: %v, %v, want ErrKeyExists and the wallet", again, err)
	}
	if _, err := store.AddWallet(t.Context(), "other", file.NewWallet{Mnemonic: []byte(testWords)}); err != nil {
		t.Errorf("in another organization: %v", err)
	}
	if _, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords), Passphrase: []byte("another wallet")}); err != nil {
		t.Errorf("with a passphrase: %v", err)
	}
	ethereum := wallet.UsualAccounts()[0]
	account, err := store.Derive(t.Context(), "org", w.ID, ethereum)
	if !errors.Is(err, keystore.ErrKeyExists) || account.ID != w.Accounts[0].ID {
		t.Errorf("an account that it has: %v, %v", account, err)
	}
	for _, c := range []struct{ organization, id string }{{"other", w.ID}, {"org", stranger}, {"org", w.Accounts[0].ID}, {"org", ""}} {
		if _, err := store.Derive(t.Context(), c.organization, c.id, ethereum); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("derive from %v: %v", c, err)
		}
		if err := store.RevealMnemonic(t.Context(), c.organization, c.id, nil); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("reveal %v: %v", c, err)
		}
	}
	if _, err := store.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveEd25519, Path: ethereum.Path}); !errors.Is(err, wallet.ErrPath) {
		t.Errorf("a path that Ed25519 does not have: %v", err)
	}
	for name, add := range map[string]file.NewWallet{
		"no words":            {},
		"a wrong checksum":    {Mnemonic: []byte(strings.Replace(testWords, "junk", "test", 1))},
		"a line break":        {Mnemonic: []byte(testWords), Passphrase: []byte("a\nb")},
		"a long passphrase":   {Mnemonic: []byte(testWords), Passphrase: make([]byte, 1025)},
		"no accounts":         {Mnemonic: []byte(testWords), Passphrase: []byte("x"), Accounts: []wallet.Account{}},
		"a control character": {Mnemonic: []byte(testWords), Passphrase: []byte("x"), Name: "a\x1b[2J"},
	} {
		if _, err := store.AddWallet(t.Context(), "org", add); err == nil || strings.Contains(err.Error(), "test test") {
			t.Errorf("%s: %v", name, err)
		}
	}
	testenv.Must(t, store.Close())
	if _, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords)}); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := store.RevealMnemonic(t.Context(), "org", w.ID, nil); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestWalletAndKey: a key cannot exist both by itself and in a wallet.
func TestWalletAndKey(t *testing.T) {
	from := create(t)
	w := addWallet(t, from)
	var secret []byte
	testenv.Must(t, from.RevealSecret(t.Context(), "org", w.Accounts[2].ID, func(revealed []byte) error {
		secret = bytes.Clone(revealed)
		return nil
	}))
	key := keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}
	if info, err := from.Add(t.Context(), "org", key); !errors.Is(err, keystore.ErrKeyExists) || info.ID != w.Accounts[2].ID {
		t.Errorf("the key of an account: %v, %v", info, err)
	}
	to := create(t)
	info, err := to.Add(t.Context(), "org", key)
	testenv.Must(t, err)
	if _, err := to.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords)}); !errors.Is(err, keystore.ErrKeyExists) || !strings.Contains(err.Error(), info.ID) {
		t.Errorf("a wallet with an account that is a key: %v", err)
	}
}

func TestRevealMnemonic(t *testing.T) {
	store := create(t)
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(" " + strings.ReplaceAll(testWords, " ", "\n")), Passphrase: []byte("pass word")})
	testenv.Must(t, err)
	for _, opened := range []*file.Store{store, reopen(t, store.Dir())} {
		testenv.Must(t, opened.RevealMnemonic(t.Context(), "org", w.ID, func(mnemonic, passphrase []byte) error {
			if string(mnemonic) != testWords || string(passphrase) != "pass word" {
				t.Errorf("%s, %s", mnemonic, passphrase)
			}
			return nil
		}))
		serves(t, opened, w)
	}
}

// TestFindWallet finds a wallet by its id, by its name if that is unique, and by its keys, but
// never a wallet of another organization.
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
			t.Errorf("%s is found in another organization: %v", at, err)
		}
	}
	for _, account := range w.Accounts {
		if found, err := store.WalletOf(t.Context(), "org", account.ID); err != nil || found.ID != w.ID {
			t.Errorf("%s: %+v, %v", account.Path, found, err)
		}
		if _, err := store.WalletOf(t.Context(), "other", account.ID); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s is found in another organization: %v", account.Path, err)
		}
	}
	for _, at := range []string{"", "Test", "no such wallet"} {
		if _, err := store.FindWallet(t.Context(), "org", at); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%q: %v", at, err)
		}
	}
	testenv.Must(t, store.Close())
	if _, err := store.FindWallet(t.Context(), "org", w.ID); !errors.Is(err, keystore.ErrClosed) {
		t.Error(err)
	}
}
