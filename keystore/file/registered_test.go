package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// sharedWith returns a 2-of-2 of a wallet's key at m/48'/0'/0'/2' and a key of BIP-388's
// vectors.
func sharedWith(t *testing.T, s *file.Store, walletID, name string) *walletpolicy.Policy {
	t.Helper()
	var own string
	testenv.Must(t, s.RevealRoot(t.Context(), "org", walletID, func(root *wallet.Root) (err error) {
		path, err := wallet.ParsePath("m/48'/0'/0'/2'")
		if err != nil {
			return err
		}
		own, err = root.XPub(path)
		return err
	}))
	policy := newPolicy(t, name, "wsh(sortedmulti(2,@0/**,@1/**))", []string{own, foreignKey})
	return policy
}

// TestRegisterSameScripts: a wallet is registered once, under whichever name and in whichever
// order of its keys. Under its own name it can be written in another way.
func TestRegisterSameScripts(t *testing.T) {
	s, walletID := newWalletStore(t, filepath.Join(t.TempDir(), "keys"))
	policy := sharedWith(t, s, walletID, "treasury")
	testenv.Must(t, s.Register(t.Context(), file.Registered{OrganizationID: "org", Policy: policy}))
	other := newPolicy(t, "aaa", policy.Template(), []string{foreignKey, policy.Keys()[0].Text})
	if err := s.Register(t.Context(), file.Registered{OrganizationID: "org", Policy: other}); !errors.Is(err, walletpolicy.ErrPolicy) || !strings.Contains(err.Error(), `the registered wallet "treasury" under another name`) {
		t.Errorf("%v", err)
	}
	again := newPolicy(t, "treasury", policy.Template(), []string{foreignKey, policy.Keys()[0].Text})
	testenv.Must(t, s.Register(t.Context(), file.Registered{OrganizationID: "org", Policy: again}))
}

const foreignKey = "[6738736c/48'/0'/0'/2']xpub6FC1fXFP1GXLX5TKtcjHGT4q89SDRehkQLtbKJ2PzWcvbBHtyDsJPLtpLtkGqYNYZdVVAjRQ5kug9CsapegmmeRutpP7PW4u4wVF9JfkDhw"

// newWalletStore returns a keystore with one wallet, of testWords unless others are given, and
// the wallet's id.
func newWalletStore(t *testing.T, dir string, others ...string) (*file.Store, string) {
	t.Helper()
	words := append(others, testWords)[0]
	s, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	w, err := s.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: []byte(words)})
	testenv.Must(t, err)
	return s, w.ID
}

// TestRegister: a registered wallet is found by every Store over the directory, and by its
// copy, and is gone when it is removed.
func TestRegister(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s, walletID := newWalletStore(t, dir)
	policy := sharedWith(t, s, walletID, "treasury")
	add := file.Registered{OrganizationID: "org", Policy: policy, Leaf: "wallet/treasury", At: time.Unix(1_800_000_000, 0)}
	other := reopen(t, dir)
	if all, err := other.Registered(t.Context(), "org"); err != nil || len(all) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
	testenv.Must(t, s.Register(t.Context(), add))
	backup := filepath.Join(t.TempDir(), "backup")
	if _, err := file.Copy(t.Context(), dir, backup, file.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]*file.Store{"the same": s, "another": other, "a copy": reopen(t, backup)} {
		all, err := store.Registered(t.Context(), "org")
		if err != nil || len(all) != 1 || all[0].Name() != "treasury" || all[0].Digest() != policy.Digest() || all[0].Leaf != add.Leaf {
			t.Errorf("%s: %v, %v", name, all, err)
		}
		if all, err := store.Registered(t.Context(), "another organization"); err != nil || len(all) != 0 {
			t.Errorf("%s: another organization has %v, %v", name, all, err)
		}
	}
	testenv.Must(t, s.Unregister(t.Context(), "org", "treasury"))
	if all, err := other.Registered(t.Context(), "org"); err != nil || len(all) != 0 {
		t.Errorf("removed: %v, %v", all, err)
	}
	if err := s.Unregister(t.Context(), "org", "treasury"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	testenv.Must(t, s.Close())
	if _, err := s.Registered(t.Context(), "org"); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestRegisterNeedsOwnKey: a policy without a key of the organization is refused, and so is
// one that claims the origin of its key for another key.
func TestRegisterNeedsOwnKey(t *testing.T) {
	s, walletID := newWalletStore(t, filepath.Join(t.TempDir(), "keys"))
	ours := sharedWith(t, s, walletID, "treasury").Keys()[0]
	forged := ours.Text[:strings.Index(ours.Text, "]")+1] + "xpub6EWhjpPa6FqrcaPBuGBZRJVjzGJ1ZsMygRF26RwN932Vfkn1gyCiTbECVitBjRCkexEvetLdiqzTcYimmzYxyR1BZ79KNevgt61PDcukmC7"
	for name, key := range map[string]string{
		"origin forged":  forged,
		"another path":   strings.Replace(ours.Text, "/2']", "/1']", 1),
		"another master": strings.Replace(ours.Text, ours.Text[1:9], "00000000", 1),
	} {
		policy := newPolicy(t, "treasury", "wsh(sortedmulti(2,@0/**,@1/**))", []string{key, foreignKey})
		if err := s.Register(t.Context(), file.Registered{OrganizationID: "org", Policy: policy}); !errors.Is(err, file.ErrNotOurs) {
			t.Errorf("%s: %v", name, err)
		}
	}
	policy := sharedWith(t, s, walletID, "treasury")
	if err := s.Register(t.Context(), file.Registered{OrganizationID: "another", Policy: policy}); !errors.Is(err, file.ErrNotOurs) {
		t.Errorf("another organization: %v", err)
	}
}

// TestPlantedWallet: a file that was altered, renamed, planted or taken from another keystore
// is not used, Open names it, and a Store that is open leaves it out.
func TestPlantedWallet(t *testing.T) {
	elsewhere, elsewhereID := newWalletStore(t, filepath.Join(t.TempDir(), "keys"), "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong")
	foreign := file.Registered{OrganizationID: "org", Policy: sharedWith(t, elsewhere, elsewhereID, "treasury")}
	testenv.Must(t, elsewhere.Register(t.Context(), foreign))
	name, content := onlyRegistered(t, elsewhere.Dir())
	for attack, alter := range map[string]func(name string, content []byte) (string, []byte){
		"altered": func(name string, content []byte) (string, []byte) {
			return name, bytes.Replace(content, []byte("sortedmulti(2"), []byte("sortedmulti(1"), 1)
		},
		"renamed": func(_ string, content []byte) (string, []byte) {
			return strings.Repeat("0", 32) + ".wallet", content
		},
		"of another keystore": func(string, []byte) (string, []byte) { return name, content },
		"without a MAC": func(name string, content []byte) (string, []byte) {
			return name, content[:bytes.IndexByte(content, '\n')+1]
		},
		"cut": func(name string, content []byte) (string, []byte) { return name, content[:len(content)-2] },
		"longer": func(name string, content []byte) (string, []byte) {
			return name, append(content, ' ')
		},
	} {
		t.Run(attack, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			s, walletID := newWalletStore(t, dir)
			testenv.Must(t, s.Register(t.Context(), file.Registered{OrganizationID: "org", Policy: sharedWith(t, s, walletID, "treasury")}))
			own, was := onlyRegistered(t, dir)
			planted, content := alter(own, was)
			path := filepath.Join(dir, "wallets", planted)
			testenv.Write(t, path, content)
			if planted != own {
				testenv.Must(t, os.Remove(filepath.Join(dir, "wallets", own)))
			}
			if all, err := s.Registered(t.Context(), "org"); err != nil || len(all) != 0 {
				t.Errorf("used by an open Store: %v, %v", all, err)
			}
			_, err := file.Open(t.Context(), dir, passphrase, fast)
			if bad, ok := errors.AsType[*file.BadFilesError](err); !ok || len(bad.Files) != 1 || bad.Files[0].Path != path {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

// onlyRegistered returns the only file of a registered wallet.
func onlyRegistered(t *testing.T, dir string) (name string, content []byte) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "wallets"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	content = testenv.Read(t, filepath.Join(dir, "wallets", entries[0].Name()))
	if line, _, _ := bytes.Cut(content, []byte("\n")); !json.Valid(line) {
		t.Fatalf("not JSON: %s", line)
	}
	return entries[0].Name(), content
}

func newPolicy(t testing.TB, name, template string, keys []string) *walletpolicy.Policy {
	t.Helper()
	policy, err := walletpolicy.New(name, template, keys)
	testenv.Must(t, err)
	return policy
}
