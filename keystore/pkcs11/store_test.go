//go:build cgo

package pkcs11_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

func TestContract(t *testing.T) {
	keystoretest.Run(t, keystoretest.Backend{
		NoSchnorr:       true,
		RandomizedECDSA: true,
		Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
			token := testenv.SoftHSM(t)
			store := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
			for _, key := range keys {
				importKey(t, store, key.OrganizationID, keystore.NewKey{ID: key.ID, Name: key.Name, Curve: key.Curve, Secret: key.Secret})
			}
			return store
		},
	})
}

func open(t testing.TB, uri string, options pkcs11.Options) *pkcs11.Store {
	t.Helper()
	store, err := pkcs11.Open(t.Context(), uri, options)
	if err != nil {
		t.Fatal(err)
	}
	store.StopClock()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return store
}

func importKey(t testing.TB, store *pkcs11.Store, organizationID string, key keystore.NewKey) keystore.KeyInfo {
	t.Helper()
	info, err := store.Add(t.Context(), organizationID, key)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// pinFile writes a file with a PIN.
func pinFile(t testing.TB, pin string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pin")
	if err := os.WriteFile(path, []byte(pin), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
