package file_test

import (
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// namedAt returns the key at a path as an honest PSBT names it.
func namedAt(t *testing.T, path string) file.Named {
	t.Helper()
	root, err := wallet.FromMnemonic([]byte(testWords), nil)
	testenv.Must(t, err)
	parsed, err := wallet.ParsePath(path)
	testenv.Must(t, err)
	secret, err := root.Derive(keystore.CurveSecp256k1, parsed)
	testenv.Must(t, err)
	store := create(t)
	info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
	testenv.Must(t, err)
	return file.Named{Fingerprint: root.Fingerprint(), Path: parsed, PublicKey: info.PublicKey.Bytes()}
}

// TestDiscover: named keys of the wallet's accounts within the gap are derived if they match.
// A PSBT that names wrong keys, or keys beyond the gap, gets nothing.
func TestDiscover(t *testing.T) {
	good := []string{"m/84'/0'/0'/0/3", "m/84'/0'/0'/1/19", "m/84'/0'/0'/0/23", "m/84'/0'/0'/1/38"}
	var named []file.Named
	for _, path := range good {
		named = append(named, namedAt(t, path))
	}
	slices.Reverse(named) // their order does not matter
	xonly := namedAt(t, "m/86'/0'/0'/1/0")
	xonly.PublicKey = xonly.PublicKey[1:]
	good, named = append(good, "m/86'/0'/0'/1/0"), append(named, xonly)
	other := namedAt(t, "m/84'/0'/0'/0/5")
	other.PublicKey = named[0].PublicKey
	stranger := namedAt(t, "m/84'/0'/0'/0/6")
	stranger.Fingerprint[0] ^= 1
	cut := namedAt(t, "m/84'/0'/0'/0/7")
	cut.PublicKey = cut.PublicKey[:20]
	named = append(named, other, stranger, cut, namedAt(t, "m/84'/0'/0'/0/44"), namedAt(t, "m/84'/0'/1'/0/0"),
		namedAt(t, "m/84'/0'/0'/0"), namedAt(t, "m/84'/0'/0'/0/0"), namedAt(t, "m/44'/60'/0'/0/1"), file.Named{Fingerprint: named[0].Fingerprint})

	store := create(t)
	w, err := store.AddWallet(t.Context(), "org", file.NewWallet{Name: "w", Mnemonic: []byte(testWords)})
	testenv.Must(t, err)
	added, left, err := store.Discover(t.Context(), "org", w.ID, named, file.GapLimit)
	testenv.Must(t, err)
	var paths []string
	for _, account := range added {
		paths = append(paths, account.Path.String())
		find(t, reopen(t, store.Dir()), keystore.ByID(account.ID))
	}
	slices.Sort(paths)
	slices.Sort(good)
	if !slices.Equal(paths, good) {
		t.Errorf("added %v, want %v", paths, good)
	}
	var rest []string
	for _, path := range left {
		rest = append(rest, path.String())
	}
	if slices.Sort(rest); !slices.Equal(rest, []string{"m/44'/60'/0'/0/1", "m/84'/0'/0'/0", "m/84'/0'/0'/0/44", "m/84'/0'/1'/0/0"}) {
		t.Errorf("left %v", rest)
	}
	if again, _, err := store.Discover(t.Context(), "org", w.ID, named[:5], file.GapLimit); err != nil || len(again) > 0 {
		t.Errorf("added twice: %v, %v", again, err)
	}
	if _, _, err := store.Discover(t.Context(), "other", w.ID, named, file.GapLimit); err == nil {
		t.Error("another organization's wallet")
	}
}
