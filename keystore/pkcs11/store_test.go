//go:build cgo

package pkcs11_test

import (
	"os"
	"path/filepath"
	"testing"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

func TestContract(t *testing.T) {
	proxy := faultproxy.Build(t, testenv.SoftHSM(t).Module)
	keystoretest.Run(t, keystoretest.Backend{
		NoSchnorr:       true,
		RandomizedECDSA: true,
		Fault: func(_ *testing.T, _ keystore.Keystore, fault keystoretest.Fault) bool {
			proxy.ReleaseAll()
			proxy.FlipBit(-1)
			proxy.Hang(false)
			inject, ok := tokenFaults[fault]
			if ok {
				inject(proxy)
			}
			return ok
		},
		Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
			token := testenv.SoftHSM(t)
			store := open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
			for _, key := range keys {
				importKey(t, store, key.OrganizationID, keystore.NewKey{ID: key.ID, Name: key.Name, Curve: key.Curve, Secret: key.Secret})
			}
			return store
		},
	})
}

// tokenFaults are the faults that the proxy can have.
var tokenFaults = map[keystoretest.Fault]func(*faultproxy.Proxy){
	keystoretest.NoFault:   func(*faultproxy.Proxy) {},
	keystoretest.Throttled: func(p *faultproxy.Proxy) { p.Fail(faultproxy.SignInit, miekg.CKR_SESSION_COUNT) },
	keystoretest.Denied:    func(p *faultproxy.Proxy) { p.Fail(faultproxy.SignInit, miekg.CKR_KEY_FUNCTION_NOT_PERMITTED) },
	keystoretest.Away:      func(p *faultproxy.Proxy) { p.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_REMOVED) },
	keystoretest.Broken:    func(p *faultproxy.Proxy) { p.Fail(faultproxy.Sign, miekg.CKR_GENERAL_ERROR) },
	keystoretest.Slow:      func(p *faultproxy.Proxy) { p.Hang(true) },
	keystoretest.Flipped:   func(p *faultproxy.Proxy) { p.FlipBit(99) },
}

func open(t testing.TB, uri string, options pkcs11.Options) *pkcs11.Store {
	t.Helper()
	store, err := pkcs11.Open(t.Context(), uri, options)
	testenv.Must(t, err)
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
	testenv.Must(t, err)
	return info
}

// pinFile writes a file with a PIN.
func pinFile(t testing.TB, pin string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pin")
	testenv.Must(t, os.WriteFile(path, []byte(pin), mode))
	return path
}
