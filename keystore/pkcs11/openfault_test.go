//go:build cgo

package pkcs11_test

import (
	"errors"
	"strings"
	"testing"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestOpenFails makes one step after the other of opening the module and logging in fail.
// Opening it again succeeds.
func TestOpenFails(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	options := pkcs11.Options{PIN: []byte(token.PIN)}
	for name, c := range map[string]struct {
		function faultproxy.Function
		with     uint
		want     string
		is       error
	}{
		"the module does not start":  {faultproxy.Initialize, miekg.CKR_GENERAL_ERROR, "initializing " + proxy.Module + ": pkcs11: 0x5: CKR_GENERAL_ERROR", nil},
		"the slots are not listed":   {faultproxy.GetSlotList, miekg.CKR_HOST_MEMORY, "listing the slots: pkcs11: 0x2: CKR_HOST_MEMORY", keystore.ErrUnavailable},
		"no sessions":                {faultproxy.OpenSession, miekg.CKR_SESSION_COUNT, "logging in: the token has no more sessions", keystore.ErrUnavailable},
		"the token breaks":           {faultproxy.Login, miekg.CKR_DEVICE_ERROR, "logging in: failed to log into long term session: pkcs11: 0x30: CKR_DEVICE_ERROR", keystore.ErrUnavailable},
		"the token does not say why": {faultproxy.Login, miekg.CKR_HOST_MEMORY, "pkcs11: logging in: ", nil},
		"the PIN has expired":        {faultproxy.Login, miekg.CKR_PIN_EXPIRED, "login refused: ", pkcs11.ErrPIN},
		"the PIN is locked":          {faultproxy.Login, miekg.CKR_PIN_LOCKED, "login refused: ", pkcs11.ErrPIN},
		"there is no PIN":            {faultproxy.Login, miekg.CKR_USER_PIN_NOT_INITIALIZED, "login refused: ", pkcs11.ErrPIN},
	} {
		proxy.Fail(c.function, c.with)
		logins := proxy.Calls(faultproxy.Login)
		store, err := pkcs11.Open(t.Context(), token.URI(proxy.Module), options)
		if err == nil {
			_ = store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if logins = proxy.Calls(faultproxy.Login) - logins; logins > 1 {
			t.Errorf("%s: the PIN was tried %d times", name, logins)
		}
		proxy.Release(c.function)
		store, err = pkcs11.Open(t.Context(), token.URI(proxy.Module), options)
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("after %s: Close: %v", name, err)
		}
	}
}

// TestModuleInUse: if something else in the process has initialized the module, Open reports
// that and leaves the module alone.
func TestModuleInUse(t *testing.T) {
	token := testenv.SoftHSM(t)
	other := miekg.New(token.Module)
	testenv.Must(t, other.Initialize())
	options := pkcs11.Options{PIN: []byte(token.PIN)}
	_, err := pkcs11.Open(t.Context(), token.URI(""), options)
	if err == nil || !strings.Contains(err.Error(), "something else in this process uses "+token.Module+" already") {
		t.Errorf("%v, want that something else uses the module", err)
	}
	if _, err := other.GetSlotList(true); err != nil {
		t.Errorf("the first user of the module: %v", err)
	}
	testenv.Must(t, other.Finalize())
	other.Destroy()
	open(t, token.URI(""), options)
}

// TestLoginIsKept: a PIN is tried once, however many sessions are opened.
func TestLoginIsKept(t *testing.T) {
	r := newRig(t, 4)
	r.hang(t, 4)
	r.release(t)
	r.mustSign(t, "with all sessions")
	open(t, r.token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(r.token.PIN)})
	if logins := r.proxy.Logins(); logins != 2 {
		t.Errorf("%d logins for two stores, want one each", logins)
	}
}

// TestAlwaysAuthenticate: a key that requires the PIN for every signature is skipped.
func TestAlwaysAuthenticate(t *testing.T) {
	token, store := newStore(t)
	b := openBare(t, token)
	b.generateAs(t, org+"/careful", []byte{1}, miekg.NewAttribute(miekg.CKA_ALWAYS_AUTHENTICATE, true))
	other := generate(t, store, org, "other", keystore.CurveSecp256k1)
	store.Forget()
	if listed := list(t, store, org); len(listed) != 1 || listed[0] != other {
		t.Errorf("listed: %v, want %v", listed, other)
	}
	mustBeSkipped(t, store, "it requires the PIN for every signature (CKA_ALWAYS_AUTHENTICATE)")
}
