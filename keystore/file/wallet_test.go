package file_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

const (
	testWords   = "test test test test test test test test test test test junk" // of Hardhat and Anvil
	testAddress = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266"                    // its first, as they print it
)

func addWallet(t *testing.T, store *file.Store) file.Wallet {
	t.Helper()
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: "test", Mnemonic: []byte(testWords)})
	must(t, err)
	return w
}

// serves fails unless every account of the wallet is found at all its places,
// in its organization alone, and signs.
func serves(t *testing.T, store *file.Store, w file.Wallet) {
	t.Helper()
	for _, account := range w.Accounts {
		places := append(keystore.Locators(account.PublicKey), keystore.ByID(account.ID))
		if account.Curve == keystore.CurveSecp256k1 {
			taproot, err := keystore.TaprootLocator(account.PublicKey)
			must(t, err)
			places = append(places, taproot)
		}
		for _, at := range places {
			key, err := store.Find(t.Context(), "org", at)
			if err != nil || key.ID() != account.ID || key.PublicKey() != account.PublicKey {
				t.Fatalf("account %v at %v: %v, %v", account.Path, at, key, err)
			}
			if _, err := store.Find(t.Context(), "other", at); !errors.Is(err, keystore.ErrKeyNotFound) {
				t.Errorf("account %v is another organization's, too: %v", account.Path, err)
			}
		}
		key, err := store.Find(t.Context(), "org", keystore.ByID(account.ID))
		must(t, err)
		if account.Curve == keystore.CurveEd25519 {
			_, err = keystore.Verified(key).(keystore.Ed25519Signer).SignEd25519(t.Context(), []byte("message"))
		} else {
			_, err = keystore.Verified(key).(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{1})
		}
		must(t, err)
	}
}

func TestWallet(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	if len(w.Accounts) != len(wallet.UsualAccounts()) || w.Accounts[0].Name != "test m/44'/60'/0'/0/0" {
		t.Fatalf("%+v", w)
	}
	if at := keystore.Locators(w.Accounts[0].PublicKey)[0]; at != keystore.ByKeccak([20]byte(unhexed(t, testAddress))) {
		t.Errorf("the first account is at %v, not at %s", at, testAddress)
	}
	serves(t, store, w)
	again := reopen(t, store.Dir())
	serves(t, again, w)
	all, err := again.Wallets(t.Context(), "org")
	if err != nil || len(all) != 1 || !equalWallets(all[0], w) {
		t.Errorf("opened again: %+v, %v, want %+v", all, err, w)
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

func unhexed(t *testing.T, text string) []byte {
	t.Helper()
	raw := make([]byte, len(text)/2)
	for i := range raw {
		high, low := strings.IndexByte("0123456789abcdef", text[2*i]), strings.IndexByte("0123456789abcdef", text[2*i+1])
		raw[i] = byte(high<<4 | low)
	}
	return raw
}

// TestDerive adds accounts, and has another Store of the directory find them.
func TestDerive(t *testing.T) {
	store := create(t)
	w := addWallet(t, store)
	other := reopen(t, store.Dir())
	for _, text := range []string{"m/44'/60'/0'/0/1", "m/44'/501'/1'/0'", "m"} {
		path, err := wallet.ParsePath(text)
		must(t, err)
		account, err := store.Derive(t.Context(), "org", strings.ToUpper(w.ID), wallet.Account{Curve: wallet.CurveOf(path), Path: path})
		must(t, err)
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
	if at := keystore.ByKeccak([20]byte(unhexed(t, "70997970c51812dc3a010c7d01b50e0d17dc79c8"))); keystore.Locators(w.Accounts[7].PublicKey)[0] != at {
		t.Errorf("m/44'/60'/0'/0/1 is not at %v", at)
	}
	// The other Store goes on from there: it loses nothing.
	path, err := wallet.ParsePath("m/44'/60'/0'/0/2")
	must(t, err)
	account, err := other.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveSecp256k1, Path: path})
	must(t, err)
	w.Accounts = append(w.Accounts, account)
	serves(t, reopen(t, store.Dir()), w)
	if entries, err := os.ReadDir(filepath.Join(store.Dir(), "keys")); err != nil || len(entries) != 1 {
		t.Errorf("files: %v, %v, want the wallet's alone", entries, err)
	}
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
		t.Errorf("a path that Ed25519 has not: %v", err)
	}
	for name, add := range map[string]file.NewWallet{
		"no words":           {},
		"a wrong checksum":   {Mnemonic: []byte(strings.Replace(testWords, "junk", "test", 1))},
		"a line break":       {Mnemonic: []byte(testWords), Passphrase: []byte("a\nb")},
		"a long passphrase":  {Mnemonic: []byte(testWords), Passphrase: make([]byte, 1025)},
		"no accounts":        {Mnemonic: []byte(testWords), Passphrase: []byte("x"), Accounts: []wallet.Account{}},
		"a name that tricks": {Mnemonic: []byte(testWords), Passphrase: []byte("x"), Name: "a\x1b[2J"},
	} {
		if _, err := store.AddWallet(t.Context(), "org", add); err == nil || strings.Contains(err.Error(), "test test") {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, store.Close())
	if _, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords)}); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := store.RevealMnemonic(t.Context(), "org", w.ID, nil); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestWalletAndKey: a key cannot be there twice, by itself and in a wallet.
func TestWalletAndKey(t *testing.T) {
	from := create(t)
	w := addWallet(t, from)
	var secret []byte
	must(t, from.RevealSecret(t.Context(), "org", w.Accounts[2].ID, func(held []byte) error {
		secret = bytes.Clone(held)
		return nil
	}))
	key := keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}
	if info, err := from.Add(t.Context(), "org", key); !errors.Is(err, keystore.ErrKeyExists) || info.ID != w.Accounts[2].ID {
		t.Errorf("the key of an account: %v, %v", info, err)
	}
	to := create(t)
	info, err := to.Add(t.Context(), "org", key)
	must(t, err)
	if _, err := to.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords)}); !errors.Is(err, keystore.ErrKeyExists) || !strings.Contains(err.Error(), info.ID) {
		t.Errorf("a wallet with an account that is a key: %v", err)
	}
}

func TestRevealMnemonic(t *testing.T) {
	store := create(t)
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(" " + strings.ReplaceAll(testWords, " ", "\n")), Passphrase: []byte("pass word")})
	must(t, err)
	for _, opened := range []*file.Store{store, reopen(t, store.Dir())} {
		must(t, opened.RevealMnemonic(t.Context(), "org", w.ID, func(mnemonic, passphrase []byte) error {
			if string(mnemonic) != testWords || string(passphrase) != "pass word" {
				t.Errorf("%s, %s", mnemonic, passphrase)
			}
			return nil
		}))
		serves(t, opened, w)
	}
}

// attackedWallet is a keystore with two keys and a wallet, closed.
func attackedWallet(t *testing.T) (attacked, file.Wallet) {
	t.Helper()
	x := newAttacked(t)
	store, err := file.Open(t.Context(), x.dir, passphrase, fast)
	must(t, err)
	w := addWallet(t, store)
	must(t, store.Close())
	return x, w
}

// TestWalletMutations: none of a wallet's file can be changed.
func TestWalletMutations(t *testing.T) {
	x, w := attackedWallet(t)
	open := file.KeyFileReader(t, x.dir, passphrase)
	content := x.read(t, w.ID)
	must(t, open(content))
	for i := range content {
		flipped := bytes.Clone(content)
		flipped[i] ^= 1 << (i % 8)
		mutations := map[string][]byte{"flipped": flipped}
		if i%8 == 0 {
			mutations["cut"] = content[:i]
			mutations["deleted"] = slices.Delete(bytes.Clone(content), i, i+1)
			mutations["doubled"] = slices.Insert(bytes.Clone(content), i, content[i])
		}
		for what, mutated := range mutations {
			if bytes.Equal(mutated, content) {
				continue
			}
			if err := open(mutated); err == nil {
				t.Fatalf("byte %d %s: the file is read", i, what)
			}
		}
	}
}

func TestWalletAttacked(t *testing.T) {
	for name, attack := range map[string]func(t *testing.T, x attacked, w file.Wallet, content []byte) []byte{
		"organization": func(_ *testing.T, _ attacked, _ file.Wallet, content []byte) []byte {
			return editWallet(t, content, `"organizationId":"org"`, `"organizationId":"gro"`)
		},
		"path": func(_ *testing.T, _ attacked, _ file.Wallet, content []byte) []byte {
			return editWallet(t, content, `m/44'/60'/0'/0/0`, `m/44'/60'/0'/0/1`)
		},
		"account left out": func(_ *testing.T, _ attacked, w file.Wallet, content []byte) []byte {
			metadata := walletMetadataOf(t, content)
			end := strings.Index(metadata, `},{`) + len(`},`)
			start := strings.Index(metadata, `[{`) + 1
			return editWallet(t, content, metadata[start:end], "")
		},
		"turned into a key": func(_ *testing.T, _ attacked, _ file.Wallet, content []byte) []byte {
			return bytes.Replace(content, []byte("countersign.dev/wallet/v1"), []byte("countersign.dev/key/v1"), 1)
		},
		"of another keystore": func(t *testing.T, _ attacked, w file.Wallet, _ []byte) []byte {
			y, other := attackedWallet(t)
			return bytes.ReplaceAll(y.read(t, other.ID), []byte(other.ID), []byte(w.ID))
		},
		"planted by who knows the recipient": func(t *testing.T, x attacked, _ file.Wallet, content []byte) []byte {
			identity, _ := x.identity(t)
			_, rest, _ := strings.Cut(string(content), "-> countersign.dev/wallet/v1 ")
			mac, _, _ := strings.Cut(rest, " ")
			return encryptTo(t, testWords+"\n", identity.Recipient(), planter(func([]byte) []*age.Stanza {
				return []*age.Stanza{{Type: "countersign.dev/wallet/v1", Args: []string{mac}, Body: []byte(walletMetadataOf(t, content))}}
			}))
		},
		"another mnemonic by a recovery recipient": func(t *testing.T, x attacked, _ file.Wallet, content []byte) []byte {
			identity, _ := x.identity(t)
			end := bytes.Index(content, []byte("\n--- ")) + len("\n--- ") + 43 + 1
			var fileKey []byte
			_, err := age.Decrypt(bytes.NewReader(content), thief{identity, &fileKey})
			must(t, err)
			return encryptWith(t, fileKey, content[:end], "legal winner thank year wave sausage worth useful legal winner thank yellow\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, w := attackedWallet(t)
			x.write(t, w.ID, attack(t, x, w, x.read(t, w.ID)))
			x.mustRefuse(t, w.ID+".age", file.ErrNotAuthentic)
		})
	}
	t.Run("renamed", func(t *testing.T) {
		x, w := attackedWallet(t)
		must(t, os.Rename(x.path(w.ID), x.path(stranger)))
		x.mustRefuse(t, stranger+".age", file.ErrNotAuthentic)
	})
	t.Run("world-readable", func(t *testing.T) {
		x, w := attackedWallet(t)
		must(t, os.Chmod(x.path(w.ID), 0o644))
		x.mustRefuse(t, w.ID+".age", file.ErrPermissions)
	})
	t.Run("symbolic link", func(t *testing.T) {
		x, w := attackedWallet(t)
		elsewhere := filepath.Join(t.TempDir(), "wallet")
		must(t, os.Rename(x.path(w.ID), elsewhere))
		must(t, os.Symlink(elsewhere, x.path(w.ID)))
		x.mustRefuse(t, w.ID+".age", file.ErrPermissions)
	})
	t.Run("key in its place", func(t *testing.T) {
		x, w := attackedWallet(t)
		x.write(t, w.ID, x.read(t, x.a.ID))
		x.mustRefuse(t, w.ID+".age", file.ErrNotAuthentic)
	})
}

// TestWalletExchangedWhileOpen: deriving reads the file anew, and does not
// believe what it finds.
func TestWalletExchangedWhileOpen(t *testing.T) {
	x, w := attackedWallet(t)
	store := reopen(t, x.dir)
	x.write(t, w.ID, x.read(t, x.a.ID))
	path, err := wallet.ParsePath("m/44'/60'/0'/0/7")
	must(t, err)
	if _, err := store.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveSecp256k1, Path: path}); !errors.Is(err, file.ErrNotAuthentic) {
		t.Errorf("derived from a file that was exchanged: %v", err)
	}
	serves(t, store, w)
}

// replaceWallet puts another file that this keystore has sealed in the place of
// a wallet's, with another time whatever the clock of the file system.
func (x attacked) replaceWallet(t *testing.T, w file.Wallet, wallet bool, metadata, text string) {
	t.Helper()
	x.write(t, w.ID, file.Seal(t, x.dir, passphrase, wallet, metadata, text))
	must(t, os.Chtimes(x.path(w.ID), time.Time{}, w.CreatedAt.Add(time.Hour)))
}

// TestWalletReplacedWhileOpen: nor by a file that is as authentic as its own.
func TestWalletReplacedWhileOpen(t *testing.T) {
	ethereum := wallet.Account{Curve: keystore.CurveSecp256k1, Path: wallet.Path{7}}
	refused := func(t *testing.T, x attacked, store *file.Store, w file.Wallet) {
		t.Helper()
		_, err := store.Derive(t.Context(), "org", w.ID, ethereum)
		if !errors.Is(err, file.ErrNotAuthentic) || !strings.Contains(err.Error(), "exchanged") || !strings.Contains(err.Error(), x.path(w.ID)) {
			t.Errorf("derived from what stands in the place of %s: %v", x.path(w.ID), err)
		}
		serves(t, store, w)
	}
	t.Run("by a key", func(t *testing.T) {
		x, w := attackedWallet(t)
		store := reopen(t, x.dir)
		metadata := strings.Replace(metadataOf(t, x.read(t, x.a.ID)), x.a.ID, w.ID, 1)
		var text string
		must(t, store.RevealSecret(t.Context(), "org", x.a.ID, func(secret []byte) error {
			text = hex.EncodeToString(secret) + "\n"
			return nil
		}))
		x.replaceWallet(t, w, false, metadata, text)
		refused(t, x, store, w)
	})
	t.Run("by a wallet of another organization", func(t *testing.T) {
		x, w := attackedWallet(t)
		store := reopen(t, x.dir)
		metadata := strings.Replace(walletMetadataOf(t, x.read(t, w.ID)), `"organizationId":"org"`, `"organizationId":"other"`, 1)
		x.replaceWallet(t, w, true, metadata, testWords+"\n")
		refused(t, x, store, w)
		bad := store.Skipped()
		if len(bad) != 1 || pathOf(bad[0]) != x.path(w.ID) || !strings.Contains(bad[0].Error(), "another organization's") {
			t.Errorf("bad files: %v", bad)
		}
	})
}

// TestWalletWithAnIDOfAKey: none of its accounts is taken in, and the key stays
// what it is.
func TestWalletWithAnIDOfAKey(t *testing.T) {
	x, w := attackedWallet(t)
	metadata := strings.Replace(walletMetadataOf(t, x.read(t, w.ID)), w.Accounts[3].ID, x.a.ID, 1)
	x.replaceWallet(t, w, true, metadata, testWords+"\n")
	x.mustRefuse(t, w.ID+".age", keystore.ErrKeyExists)
	lenient := fast
	lenient.SkipInvalid = true
	store, err := file.Open(t.Context(), x.dir, passphrase, lenient)
	must(t, err)
	defer store.Close()
	if listed := ids(t, store, "org"); len(listed) != 2 {
		t.Errorf("%d keys beside the wallet, want 2", len(listed))
	}
}

// TestAccountTwice: such a wallet could not be opened again, so that it is not
// written.
func TestAccountTwice(t *testing.T) {
	store := create(t)
	ethereum, bitcoin := wallet.UsualAccounts()[0], wallet.UsualAccounts()[1]
	_, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords), Accounts: []wallet.Account{ethereum, bitcoin, ethereum}})
	if err == nil || !strings.Contains(err.Error(), "account 3, m/44'/60'/0'/0/0, is account 1 again") {
		t.Errorf("added with %v", err)
	}
	if listed := ids(t, store, "org"); len(listed) != 0 {
		t.Errorf("%d keys were taken in", len(listed))
	}
	if again := reopen(t, store.Dir()); len(ids(t, again, "org")) != 0 {
		t.Error("the wallet was written")
	}
}

func walletMetadataOf(t *testing.T, content []byte) string {
	t.Helper()
	return headerOf(t, bytes.Replace(content, []byte("countersign.dev/wallet/v1"), []byte("countersign.dev/key/v1"), 1)).metadata
}

// editWallet changes the metadata and leaves the rest.
func editWallet(t *testing.T, content []byte, old, edited string) []byte {
	t.Helper()
	before := walletMetadataOf(t, content)
	after := strings.Replace(before, old, edited, 1)
	changed := bytes.Replace(content, wrapped(before), wrapped(after), 1)
	if before == after || bytes.Equal(changed, content) {
		t.Fatalf("nothing was edited in %s", before)
	}
	return changed
}

// TestDeriveAtOnce has several Stores of one directory derive at the same time:
// no account is lost.
func TestDeriveAtOnce(t *testing.T) {
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

// TestMaxAccounts fills a wallet.
func TestMaxAccounts(t *testing.T) {
	store := create(t)
	var accounts []wallet.Account
	for i := range file.MaxAccounts {
		accounts = append(accounts, wallet.Account{Curve: keystore.CurveEd25519, Path: wallet.Path{wallet.Hardened - 1 + wallet.Hardened, wallet.Hardened + uint32(i)}})
	}
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: strings.Repeat("n", file.MaxNameSize), Mnemonic: []byte(testWords), Accounts: accounts})
	must(t, err)
	serves(t, reopen(t, store.Dir()), w)
	path := wallet.Path{wallet.Hardened}
	if _, err := store.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveEd25519, Path: path}); err == nil || !strings.Contains(err.Error(), "256 accounts, and no more fit") {
		t.Errorf("one more: %v", err)
	}
	accounts = append(accounts, wallet.Account{Curve: keystore.CurveEd25519, Path: path})
	if _, err := store.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(testWords), Passphrase: []byte("x"), Accounts: accounts}); err == nil || !strings.Contains(err.Error(), "257 accounts, want 1 to 256") {
		t.Errorf("one too many: %v", err)
	}
}
