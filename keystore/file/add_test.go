package file_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// secret returns the i-th of many secrets.
func secret(i int) []byte {
	digest := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return digest[:]
}

func secp256k1Keys(from, to int) (keys []keystore.NewKey) {
	for i := from; i < to; i++ {
		keys = append(keys, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret(i)})
	}
	return keys
}

func ids(t *testing.T, store *file.Store, organizationID string) (ids []string) {
	t.Helper()
	for info, err := range store.Keys(t.Context(), organizationID) {
		testenv.Must(t, err)
		ids = append(ids, info.ID)
	}
	return ids
}

func reopen(t *testing.T, dir string) *file.Store {
	t.Helper()
	store, err := file.Open(t.Context(), dir, passphrase, fast)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestAddBatch(t *testing.T) {
	store := create(t)
	first, err := store.Add(t.Context(), "org", keystore.NewKey{Name: "there", Curve: keystore.CurveSecp256k1, Secret: secret(3)})
	testenv.Must(t, err)
	keys := secp256k1Keys(0, 8)
	keys[5].Secret = secret(2)        // same as an earlier one
	keys[6].Secret = make([]byte, 32) // invalid scalar
	keys[7].ID = "hot"                // not a UUID
	keys = append(keys, keystore.NewKey{ID: first.ID, Curve: keystore.CurveEd25519, Secret: secret(9)})
	keys = append(keys, keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(0)}) // another curve: another key
	infos, errs := store.AddBatch(t.Context(), "org", keys)
	if len(infos) != len(keys) || len(errs) != len(keys) {
		t.Fatalf("%d infos, %d errors for %d keys", len(infos), len(errs), len(keys))
	}
	for i, c := range []struct {
		err  error
		info keystore.KeyInfo
	}{
		{}, {}, {}, {keystore.ErrKeyExists, first}, {}, {keystore.ErrKeyExists, infos[2]},
		{errAny, keystore.KeyInfo{}}, {errAny, keystore.KeyInfo{}}, {keystore.ErrKeyExists, first}, {},
	} {
		switch {
		case c.err == nil && (errs[i] != nil || infos[i].PublicKey.IsZero()):
			t.Errorf("key %d: %v, %v", i, infos[i], errs[i])
		case c.err != nil && (errs[i] == nil || infos[i] != c.info):
			t.Errorf("key %d: %v, %v, want an error and %v", i, infos[i], errs[i], c.info)
		case c.err == keystore.ErrKeyExists && !errors.Is(errs[i], keystore.ErrKeyExists):
			t.Errorf("key %d: %v, want ErrKeyExists", i, errs[i])
		}
	}
	if listed := ids(t, store, "org"); len(listed) != 6 {
		t.Errorf("%d keys are listed, want 6", len(listed))
	}
}

var errAny = errors.New("any error")

// TestAddBatchTwice adds the same keys twice, the second time from another Store.
func TestAddBatchTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	infos, errs := store.AddBatch(t.Context(), "org", secp256k1Keys(0, 5))
	testenv.Must(t, errs...)
	testenv.Must(t, store.Close())
	again, errs := reopen(t, dir).AddBatch(t.Context(), "org", secp256k1Keys(0, 5))
	for i := range again {
		if !errors.Is(errs[i], keystore.ErrKeyExists) || again[i] != infos[i] {
			t.Errorf("key %d: %v, %v, want ErrKeyExists and %v", i, again[i], errs[i], infos[i])
		}
	}
}

func TestListingOrderAfterReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	infos, errs := store.AddBatch(t.Context(), "org", secp256k1Keys(0, 20))
	testenv.Must(t, errs...)
	var want []string
	for _, info := range infos {
		want = append(want, info.ID)
	}
	old, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(0), CreatedAt: time.Date(2009, 1, 3, 18, 15, 5, 0, time.UTC)})
	testenv.Must(t, err)
	want = append([]string{old.ID}, want...)
	if got := ids(t, store, "org"); !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	if got := ids(t, reopen(t, dir), "org"); !slices.Equal(got, want) {
		t.Errorf("listed %v after reopening, want %v", got, want)
	}
}

func TestOrganizationsShareNoIDs(t *testing.T) {
	store := create(t)
	ours, err := store.Add(t.Context(), "org", keystore.NewKey{Name: "ours", Curve: keystore.CurveEd25519, Secret: secret(1)})
	testenv.Must(t, err)
	info, err := store.Add(t.Context(), "other", keystore.NewKey{ID: strings.ToUpper(ours.ID), Curve: keystore.CurveEd25519, Secret: secret(2)})
	if !errors.Is(err, keystore.ErrKeyExists) || info != (keystore.KeyInfo{}) {
		t.Errorf("an id of another organization: %v, %v, want ErrKeyExists and nothing about that key", info, err)
	}
	if _, err := store.Add(t.Context(), "other", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(1)}); err != nil {
		t.Errorf("a secret of another organization: %v", err)
	}
}

func TestRefusedKeys(t *testing.T) {
	store := create(t)
	good := keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(1)}
	for _, c := range []struct {
		name, organizationID string
		change               func(*keystore.NewKey)
		want                 string
	}{
		{"no organization", "", func(*keystore.NewKey) {}, "organization id is empty"},
		{"long organization", strings.Repeat("o", 257), func(*keystore.NewKey) {}, "organization id has 257 bytes, the limit is 256"},
		{"long name", "org", func(k *keystore.NewKey) { k.Name = strings.Repeat("n", 257) }, "name has 257 bytes, the limit is 256"},
		{"name not in UTF-8", "org", func(k *keystore.NewKey) { k.Name = "a\xff" }, "name is not valid UTF-8"},
		{"name with an escape sequence", "org", func(k *keystore.NewKey) { k.Name = "a\x1b[2J" }, "name has the invisible or control character U+001B at byte 1"},
		{"organization in two lines", "a\nb", func(*keystore.NewKey) {}, "organization id has the invisible or control character U+000A at byte 1"},
		{"id that is a path", "org", func(k *keystore.NewKey) { k.ID = "../../../../../../../../etc/passwd..." }, "is not a UUID"},
		{"id in braces", "org", func(k *keystore.NewKey) { k.ID = "{" + stranger + "}" }, "is not a UUID"},
		{"id without hyphens", "org", func(k *keystore.NewKey) { k.ID = strings.ReplaceAll(stranger, "-", "") }, "is not a UUID"},
		{"short secret", "org", func(k *keystore.NewKey) { k.Secret = k.Secret[:31] }, "31 bytes, want 32"},
		{"zero scalar", "org", func(k *keystore.NewKey) { k.Curve, k.Secret = keystore.CurveSecp256k1, make([]byte, 32) }, "not between 1 and the group order"},
		{"no curve", "org", func(k *keystore.NewKey) { k.Curve = 0 }, "use CURVE_SECP256K1 or CURVE_ED25519"},
		{"another public key", "org", func(k *keystore.NewKey) { k.PublicKey = publicKey(t, 2) }, "the secret does not belong to the public key"},
		{"far future", "org", func(k *keystore.NewKey) { k.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "creation time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := good
			c.change(&key)
			if info, err := store.Add(t.Context(), c.organizationID, key); err == nil || !strings.Contains(err.Error(), c.want) || info != (keystore.KeyInfo{}) {
				t.Errorf("added with %v, %v, want an error with %q", info, err, c.want)
			}
		})
	}
	entries, err := os.ReadDir(filepath.Join(store.Dir(), "keys"))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func publicKey(t *testing.T, i int) keystore.PublicKey {
	t.Helper()
	store := create(t)
	info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(i)})
	testenv.Must(t, err)
	return info.PublicKey
}

// TestWrittenFiles checks the names and modes of all files.
func TestWrittenFiles(t *testing.T) {
	x := newAttacked(t)
	want := map[string]os.FileMode{
		".": os.ModeDir | 0o700, "identity.age": 0o600, "lock": 0o600, "keys": os.ModeDir | 0o700,
		"keys/" + x.a.ID + ".age": 0o600, "keys/" + x.b.ID + ".age": 0o600,
	}
	testenv.Must(t, filepath.WalkDir(x.dir, func(path string, entry os.DirEntry, err error) error {
		testenv.Must(t, err)
		name, err := filepath.Rel(x.dir, path)
		testenv.Must(t, err)
		info, err := entry.Info()
		testenv.Must(t, err)
		if mode, expected := want[filepath.ToSlash(name)]; !expected || info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), mode)
		}
		delete(want, filepath.ToSlash(name))
		return nil
	}))
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestRevealSecret(t *testing.T) {
	store := create(t)
	for i, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: curve, Secret: secret(i)})
		testenv.Must(t, err)
		var got []byte
		testenv.Must(t, store.RevealSecret(t.Context(), "org", info.ID, func(secret []byte) error {
			got = slices.Clone(secret)
			return nil
		}))
		if !slices.Equal(got, secret(i)) {
			t.Errorf("%v: revealed %x, want %x", curve, got, secret(i))
		}
		if err := store.RevealSecret(t.Context(), "other", info.ID, nil); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("of another organization: %v, want ErrKeyNotFound", err)
		}
	}
}
