package file_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// attackedWallet returns a closed keystore with two keys and a wallet.
func attackedWallet(t *testing.T) (attacked, file.Wallet) {
	t.Helper()
	x := newAttacked(t)
	store, err := file.Open(t.Context(), x.dir, passphrase, fast)
	testenv.Must(t, err)
	w := addWallet(t, store)
	testenv.Must(t, store.Close())
	return x, w
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
		"forged with the recipient": func(t *testing.T, x attacked, _ file.Wallet, content []byte) []byte {
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
			return encryptWith(t, fileKeyOf(t, content, identity), content[:end], "legal winner thank year wave sausage worth useful legal winner thank yellow\n")
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
		testenv.Must(t, os.Rename(x.path(w.ID), x.path(stranger)))
		x.mustRefuse(t, stranger+".age", file.ErrNotAuthentic)
	})
	t.Run("world-readable", func(t *testing.T) {
		x, w := attackedWallet(t)
		testenv.Must(t, os.Chmod(x.path(w.ID), 0o644))
		x.mustRefuse(t, w.ID+".age", file.ErrPermissions)
	})
	t.Run("symbolic link", func(t *testing.T) {
		x, w := attackedWallet(t)
		elsewhere := filepath.Join(t.TempDir(), "wallet")
		testenv.Must(t, os.Rename(x.path(w.ID), elsewhere))
		testenv.Must(t, os.Symlink(elsewhere, x.path(w.ID)))
		x.mustRefuse(t, w.ID+".age", file.ErrPermissions)
	})
	t.Run("key in its place", func(t *testing.T) {
		x, w := attackedWallet(t)
		x.write(t, w.ID, x.read(t, x.a.ID))
		x.mustRefuse(t, w.ID+".age", file.ErrNotAuthentic)
	})
}

// TestDeriveVerifiesFile: Derive rereads the file of the wallet and verifies it.
func TestDeriveVerifiesFile(t *testing.T) {
	x, w := attackedWallet(t)
	store := reopen(t, x.dir)
	x.write(t, w.ID, x.read(t, x.a.ID))
	path, err := wallet.ParsePath("m/44'/60'/0'/0/7")
	testenv.Must(t, err)
	if _, err := store.Derive(t.Context(), "org", w.ID, wallet.Account{Curve: keystore.CurveSecp256k1, Path: path}); !errors.Is(err, file.ErrNotAuthentic) {
		t.Errorf("derived from a replaced file: %v", err)
	}
	serves(t, store, w)
}

// replaceWallet replaces a wallet file by another one with a valid MAC, and with another
// modification time however coarse the file system's clock.
func (x attacked) replaceWallet(t *testing.T, w file.Wallet, wallet bool, metadata, text string) {
	t.Helper()
	x.write(t, w.ID, file.Seal(t, x.dir, passphrase, wallet, metadata, text))
	testenv.Must(t, os.Chtimes(x.path(w.ID), time.Time{}, w.CreatedAt.Add(time.Hour)))
}

// TestWalletReplacedWhileOpen: Derive also refuses an authentic file that is not the wallet's.
func TestWalletReplacedWhileOpen(t *testing.T) {
	ethereum := wallet.Account{Curve: keystore.CurveSecp256k1, Path: wallet.Path{7}}
	refused := func(t *testing.T, x attacked, store *file.Store, w file.Wallet) {
		t.Helper()
		_, err := store.Derive(t.Context(), "org", w.ID, ethereum)
		if !errors.Is(err, file.ErrNotAuthentic) || !strings.Contains(err.Error(), "replaced since") || !strings.Contains(err.Error(), x.path(w.ID)) {
			t.Errorf("derived from the replacement of %s: %v", x.path(w.ID), err)
		}
		serves(t, store, w)
	}
	t.Run("by a key", func(t *testing.T) {
		x, w := attackedWallet(t)
		store := reopen(t, x.dir)
		metadata := strings.Replace(metadataOf(t, x.read(t, x.a.ID)), x.a.ID, w.ID, 1)
		var text string
		testenv.Must(t, store.RevealSecret(t.Context(), "org", x.a.ID, func(secret []byte) error {
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
		if len(bad) != 1 || pathOf(bad[0]) != x.path(w.ID) || !strings.Contains(bad[0].Error(), "another organization") {
			t.Errorf("skipped: %v", bad)
		}
	})
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

// TestWalletReusesKeyID: a wallet that has the id of a key is refused as a whole, and the key
// is not affected.
func TestWalletReusesKeyID(t *testing.T) {
	x, w := attackedWallet(t)
	metadata := strings.Replace(walletMetadataOf(t, x.read(t, w.ID)), w.Accounts[3].ID, x.a.ID, 1)
	x.replaceWallet(t, w, true, metadata, testWords+"\n")
	x.mustRefuse(t, w.ID+".age", keystore.ErrKeyExists)
	lenient := fast
	lenient.SkipInvalid = true
	store, err := file.Open(t.Context(), x.dir, passphrase, lenient)
	testenv.Must(t, err)
	defer store.Close()
	if listed := ids(t, store, "org"); len(listed) != 2 {
		t.Errorf("%d keys besides the wallet, want 2", len(listed))
	}
}
