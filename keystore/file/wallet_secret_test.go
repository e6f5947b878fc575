package file_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// masterKey is the extended private key of testWords, computed with @scure/bip32.
const masterKey = "xprv9s21ZrQH143K3iDNSJZcYeHRe33FQ98DS1wZR9xstVPN8zs77wpsghZt41M6s72keKC1gW3ePJMyL19duV524VbEqWBW6BL5fJ4FopSgNLz"

// extended returns the extended private key of testWords at a path.
func extended(t *testing.T, text string) string {
	t.Helper()
	root, err := wallet.FromMnemonic([]byte(testWords), nil)
	testenv.Must(t, err)
	path, err := wallet.ParsePath(text)
	testenv.Must(t, err)
	key, err := root.ExtendedKey(path)
	testenv.Must(t, err)
	return string(key)
}

func addExtended(t *testing.T, store *file.Store, key string) file.Wallet {
	t.Helper()
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: "test", ExtendedKey: []byte(key)})
	testenv.Must(t, err)
	return w
}

// TestExtendedKeyWallet: the accounts of a master key are those of its mnemonic on secp256k1.
// The wallet can be reopened, and more accounts derived.
func TestExtendedKeyWallet(t *testing.T) {
	store := create(t)
	w := addExtended(t, store, masterKey)
	mnemonic := addWallet(t, create(t))
	var same int
	for _, account := range mnemonic.Accounts {
		for _, ours := range w.Accounts {
			if ours.Path.String() == account.Path.String() && ours.PublicKey == account.PublicKey {
				same++
			}
		}
	}
	if same != 6 || len(w.Accounts) != 6 {
		t.Errorf("%d of %d accounts are those of the mnemonic, want 6 of 6", same, len(w.Accounts))
	}
	again := reopen(t, store.Dir())
	serves(t, again, w)
	account, err := again.Derive(t.Context(), "org", w.ID, bitcoinAt(t, 5))
	testenv.Must(t, err)
	w.Accounts = append(w.Accounts, account)
	third := reopen(t, store.Dir())
	serves(t, third, w)
	testenv.Must(t, third.RevealRoot(t.Context(), "org", w.ID, func(root *wallet.Root) error {
		key, err := root.ExtendedKey(nil)
		if err != nil || string(key) != masterKey {
			t.Errorf("revealed %s, %v", key, err)
		}
		return nil
	}))
	if err := third.RevealMnemonic(t.Context(), "org", w.ID, nil); !errors.Is(err, file.ErrNoMnemonic) {
		t.Errorf("mnemonic of an extended private key: %v", err)
	}
	solana := wallet.UsualAccounts()[1]
	if _, err := third.Derive(t.Context(), "org", w.ID, solana); !errors.Is(err, wallet.ErrPath) || !strings.Contains(err.Error(), "derived from the mnemonic") {
		t.Errorf("an account on Ed25519: %v", err)
	}
}

// TestAccountKeyWallet: a wallet of an account's extended key derives only paths below it. A
// PSBT that names the master key's fingerprint finds its keys.
func TestAccountKeyWallet(t *testing.T) {
	store := create(t)
	w := addExtended(t, store, extended(t, "m/84'/0'/0'"))
	if len(w.Accounts) != 1 || w.Accounts[0].Path.String() != "m/84'/0'/0'/0/0" {
		t.Fatalf("%+v", w)
	}
	for _, at := range []string{"m/84'/0'/1'/0/0", "m/86'/0'/0'/0/0", "m/84'/0'", "m"} {
		path, err := wallet.ParsePath(at)
		testenv.Must(t, err)
		_, err = store.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveSecp256k1, Path: path})
		if !errors.Is(err, wallet.ErrPath) || !strings.Contains(err.Error(), "it is not below m/84'/0'/0', where the extended private key of this wallet is") {
			t.Errorf("%s: %v", at, err)
		}
	}
	named := []file.Named{namedAt(t, "m/84'/0'/0'/1/7"), namedAt(t, "m/84'/0'/0'/0/19"), namedAt(t, "m/84'/0'/1'/0/0")}
	added, _, err := store.Discover(t.Context(), "org", w.ID, named, file.GapLimit)
	if err != nil || len(added) != 2 {
		t.Fatalf("%+v, %v, want the two of this account", added, err)
	}
	w.Accounts = append(w.Accounts, added...)
	serves(t, reopen(t, store.Dir()), w)

	// With the receiving chain alone, keys that a PSBT names on the change chain are ignored.
	chain := create(t)
	receiving := addExtended(t, chain, extended(t, "m/84'/0'/0'/0"))
	if added, _, err := chain.Discover(t.Context(), "org", receiving.ID, named, file.GapLimit); err != nil || len(added) != 1 {
		t.Errorf("%+v, %v, want the one for receiving", added, err)
	}
}

// TestAddWalletSharingAccount: a wallet counts as existing only if its secret is the same.
// Otherwise the user might discard a mnemonic that is stored nowhere.
func TestAddWalletSharingAccount(t *testing.T) {
	store := create(t)
	account := addExtended(t, store, extended(t, "m/84'/0'/0'"))
	if w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords)}); !errors.Is(err, keystore.ErrKeyExists) || w.ID != "" {
		t.Errorf("the mnemonic of an existing account: %+v, %v", w, err)
	}
	key := extended(t, "m/84'/0'/0'")
	origin, rest, _ := strings.Cut(key, "]")
	for _, same := range []string{key, strings.ReplaceAll(origin, "h", "'") + "]" + rest} {
		if w, err := store.AddWallet(t.Context(), "org", file.NewWallet{ExtendedKey: []byte(same)}); !errors.Is(err, keystore.ErrKeyExists) || !equalWallets(w, account) {
			t.Errorf("the same account: %+v, %v", w, err)
		}
	}
}

func TestExtendedKeyRefused(t *testing.T) {
	store := create(t)
	for name, c := range map[string]struct {
		add  file.NewWallet
		want string
	}{
		"a mistyped character": {file.NewWallet{ExtendedKey: []byte(masterKey[:50] + "x" + masterKey[51:])}, "the checksum is wrong"},
		"words as well":        {file.NewWallet{ExtendedKey: []byte(masterKey), Mnemonic: []byte(testWords)}, "no mnemonic and no passphrase"},
		"a passphrase":         {file.NewWallet{ExtendedKey: []byte(masterKey), Passphrase: []byte("x")}, "no mnemonic and no passphrase"},
		"on Ed25519":           {file.NewWallet{ExtendedKey: []byte(masterKey), Accounts: wallet.UsualAccounts()}, "derived from the mnemonic"},
	} {
		_, err := store.AddWallet(t.Context(), "org", c.add)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), masterKey[60:]) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if listed := ids(t, store, "org"); len(listed) != 0 {
		t.Errorf("%d keys were added", len(listed))
	}
}
