//go:build cgo

package pkcs11_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestTokenAway takes the directory of SoftHSM's tokens away and puts it back: no key is said not
// to exist. SoftHSM gives up on the token until it is initialized again, which docs/hsm.md says.
func TestTokenAway(t *testing.T) {
	token := testenv.SoftHSM(t)
	folder := filepath.Dir(token.Config)
	store, err := pkcs11.Open(t.Context(), token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
	testenv.Must(t, err)
	defer func() { _ = store.Close() }()
	info, err := store.Generate(t.Context(), "org", "hot", keystore.CurveSecp256k1)
	testenv.Must(t, err)
	sign := func(id string) error {
		store.Forget()
		key, err := store.Find(t.Context(), "org", keystore.ByID(id))
		if err != nil {
			return err
		}
		_, err = key.(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{1})
		return err
	}
	const unknown = "01999999-0000-7000-8000-000000000000"
	if err := errors.Join(sign(info.ID), store.Ready(t.Context())); err != nil || !errors.Is(sign(unknown), keystore.ErrKeyNotFound) {
		t.Fatal(err)
	}
	tokens := filepath.Join(folder, "tokens")
	testenv.Must(t, os.Rename(tokens, tokens+".away"))
	away := func(when string) {
		t.Helper()
		for _, id := range []string{info.ID, unknown} {
			if err := sign(id); !errors.Is(err, keystore.ErrUnavailable) {
				t.Errorf("%s, the key exists: %v: %v", when, id == info.ID, err)
			}
		}
		if _, err := ids(t.Context(), store); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("%s: listed with %v", when, err)
		}
		if err := store.Ready(t.Context()); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("%s: ready: %v", when, err)
		}
	}
	for range 3 {
		away("away")
	}
	testenv.Must(t, os.Rename(tokens+".away", tokens))
	away("back, which SoftHSM does not notice")
	testenv.Must(t, store.Close())
	if store, err = pkcs11.Open(t.Context(), token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)}); err != nil {
		t.Fatal(err)
	}
	if err := sign(info.ID); err != nil || !errors.Is(sign(unknown), keystore.ErrKeyNotFound) {
		t.Errorf("opened again: %v", err)
	}
}
