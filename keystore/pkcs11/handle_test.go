//go:build cgo

package pkcs11_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestSigningFails makes one step after the other fail on the way to a signature. The error
// must be the token's, not a consequence of continuing after it, and the PIN must not be
// tried more often than necessary.
func TestSigningFails(t *testing.T) {
	r := newRig(t, 1)
	for name, c := range map[string]struct {
		inject      func(*faultproxy.Proxy)
		want        string
		unavailable bool
		begun       int // signatures
		logins      int
	}{
		"the mechanism is missing": {
			inject: func(p *faultproxy.Proxy) { p.Fail(faultproxy.SignInit, miekg.CKR_MECHANISM_INVALID) },
			want:   "lists what it supports: pkcs11: 0x70: CKR_MECHANISM_INVALID", begun: 1,
		},
		"the user may not use the key": {
			inject: func(p *faultproxy.Proxy) { p.Fail(faultproxy.SignInit, miekg.CKR_KEY_FUNCTION_NOT_PERMITTED) },
			want:   "denied: signing: the token does not permit it: pkcs11: 0x68: CKR_KEY_FUNCTION_NOT_PERMITTED", unavailable: true, begun: 1,
		},
		"the token is in its slot, and says that it is not": {
			inject: func(p *faultproxy.Proxy) { p.Fail(faultproxy.SignInit, miekg.CKR_TOKEN_NOT_PRESENT) },
			want:   "signing: the token is not present: tried twice: pkcs11: 0xE0: CKR_TOKEN_NOT_PRESENT", unavailable: true, begun: 2,
		},
		"the token breaks halfway": {
			inject: func(p *faultproxy.Proxy) { p.Fail(faultproxy.Sign, miekg.CKR_DEVICE_ERROR) },
			want:   "signing: tried twice: pkcs11: 0x30: CKR_DEVICE_ERROR", unavailable: true, begun: 2,
		},
		"the key cannot be looked up again": {
			inject: func(p *faultproxy.Proxy) {
				p.Fail(faultproxy.SignInit, miekg.CKR_KEY_HANDLE_INVALID, 0)
				p.Fail(faultproxy.FindObjectsInit, miekg.CKR_HOST_MEMORY, 0)
			},
			want: "signing: tried twice: pkcs11: 0x2: CKR_HOST_MEMORY", begun: 1,
		},
		"no new session": {
			inject: func(p *faultproxy.Proxy) {
				p.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_ERROR, 0)
				p.Fail(faultproxy.OpenSession, miekg.CKR_HOST_MEMORY, 0)
			},
			want: "signing: pkcs11: 0x2: CKR_HOST_MEMORY", begun: 1,
		},
		"no login": {
			inject: func(p *faultproxy.Proxy) {
				p.Fail(faultproxy.SignInit, faultproxy.EndLogin, 0)
				p.Fail(faultproxy.Login, miekg.CKR_HOST_MEMORY, 0)
			},
			want: "signing: pkcs11: 0x2: CKR_HOST_MEMORY", begun: 1, logins: 1,
		},
		"nobody knows whether there is a login": {
			inject: func(p *faultproxy.Proxy) {
				p.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_ERROR, 0)
				p.Fail(faultproxy.GetSessionInfo, miekg.CKR_HOST_MEMORY, 0)
			},
			want: "signing: pkcs11: 0x2: CKR_HOST_MEMORY", begun: 1,
		},
		"the token was removed, and the slots cannot be listed": {
			inject: func(p *faultproxy.Proxy) {
				p.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_REMOVED, 0)
				p.Fail(faultproxy.OpenSession, miekg.CKR_TOKEN_NOT_PRESENT, 0)
				p.Fail(faultproxy.GetSlotList, miekg.CKR_HOST_MEMORY, 0)
			},
			want: "listing the slots: pkcs11: 0x2: CKR_HOST_MEMORY", unavailable: true, begun: 1,
		},
	} {
		for _, key := range r.keys {
			begun, logins := r.proxy.Calls(faultproxy.SignInit), r.proxy.Calls(faultproxy.Login)
			c.inject(r.proxy)
			signature, err := sign(t.Context(), key)
			if err == nil || !strings.Contains(err.Error(), "key "+key.ID()+": ") || !strings.HasSuffix(err.Error(), c.want) ||
				errors.Is(err, keystore.ErrUnavailable) != c.unavailable || strings.Trim(string(signature), "\x00") != "" {
				t.Errorf("%s: %x, %v, want %q", name, signature, err, c.want)
			}
			if begun = r.proxy.Calls(faultproxy.SignInit) - begun; begun != c.begun {
				t.Errorf("%s: begun %d times, want %d", name, begun, c.begun)
			}
			if logins = r.proxy.Calls(faultproxy.Login) - logins; logins != c.logins {
				t.Errorf("%s: the PIN was tried %d times, want %d", name, logins, c.logins)
			}
			r.proxy.ReleaseAll()
			r.mustSign(t, "after "+name)
		}
	}
}

// TestKeyLookedUpAgain: after a failure, a key is looked up by its id and label and must have
// both.
func TestKeyLookedUpAgain(t *testing.T) {
	r := newRig(t, 1)
	label := "org/"
	b := openBare(t, r.token)
	var secp256k1 miekg.ObjectHandle
	for _, object := range b.find(t, miekg.CKO_PRIVATE_KEY, label) {
		if kind := b.attribute(t, object, miekg.CKA_KEY_TYPE); kind[0] == miekg.CKK_EC {
			secp256k1 = object
		}
	}
	if _, err := b.CopyObject(b.session, secp256k1, []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_LABEL, label)}); err != nil {
		t.Fatal(err)
	}
	lost := func(want string) error {
		r.proxy.Fail(faultproxy.SignInit, miekg.CKR_KEY_HANDLE_INVALID, 0)
		_, err := sign(t.Context(), r.keys[0])
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := sign(t.Context(), r.keys[1]); err != nil {
			t.Errorf("the other key: %v", err)
		}
		return err
	}
	if err := lost("2 private keys on the token have its CKA_ID and CKA_LABEL"); errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("%v: must not be retryable", err)
	}
	b.set(t, secp256k1, miekg.CKA_LABEL, "org/the first one")
	r.proxy.Fail(faultproxy.SignInit, miekg.CKR_KEY_HANDLE_INVALID, 0)
	r.mustSign(t, "with one of them under its label")
	for _, object := range b.find(t, miekg.CKO_PRIVATE_KEY, label) {
		if kind := b.attribute(t, object, miekg.CKA_KEY_TYPE); kind[0] == miekg.CKK_EC {
			b.destroy(t, object)
		}
	}
	if err := lost("no private key on the token has its CKA_ID and CKA_LABEL"); !errors.Is(err, keystore.ErrWithdrawn) {
		t.Errorf("%v, want keystore.ErrWithdrawn", err)
	}
	b.set(t, secp256k1, miekg.CKA_LABEL, label)
	r.mustSign(t, "when it is back")
}

// TestUnprovedKeyIsNotFound: the token fails while a key that is found for the first time has
// to prove its public key.
func TestUnprovedKeyIsNotFound(t *testing.T) {
	r := newRig(t, 1)
	fresh := open(t, r.token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(r.token.PIN)})
	for _, key := range r.keys {
		r.proxy.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_ERROR)
		if found, err := fresh.Find(t.Context(), "org", keystore.ByID(key.ID())); found != nil || !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("found %v, %v, want keystore.ErrUnavailable", found, err)
		}
		if listed, err := ids(t.Context(), fresh); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("listed %v, %v, want keystore.ErrUnavailable", listed, err)
		}
		r.proxy.Release(faultproxy.SignInit)
		if _, err := fresh.Find(t.Context(), "org", keystore.ByID(key.ID())); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
}

// TestContextHasEnded: nothing is begun after the context has ended, and the error is the
// context's alone.
func TestContextHasEnded(t *testing.T) {
	r := newRig(t, 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	begun := r.proxy.Calls(faultproxy.SignInit)
	for range 50 {
		if _, err := sign(ended, r.keys[0]); err != context.Canceled {
			t.Errorf("signing: %v", err)
		}
	}
	r.mustSign(t, "afterwards") // after all operations in progress, because there is one session
	if begun = r.proxy.Calls(faultproxy.SignInit) - begun; begun != len(r.keys) {
		t.Errorf("%d signatures were begun, want %d", begun, len(r.keys))
	}
	_, opening := pkcs11.Open(ended, r.token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(r.token.PIN)})
	_, generating := r.store.Generate(ended, "org", "", keystore.CurveEd25519)
	_, finding := r.store.Find(ended, "org", keystore.ByID("unknown"))
	_, listing := ids(ended, r.store)
	for range 50 {
		listed := 0
		for _, err := range r.store.Keys(ended, "an organization without keys") {
			if listed++; err != context.Canceled {
				t.Errorf("Keys of an unknown organization: %v", err)
			}
		}
		if listed != 1 {
			t.Fatalf("Keys of an unknown organization: %d listed, want an error", listed)
		}
	}
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"Open": {opening, "context canceled"}, "Generate": {generating, "generate key: context canceled"},
		"Find": {finding, "context canceled"}, "Keys": {listing, "context canceled"},
	} {
		if !errors.Is(c.err, context.Canceled) || c.err.Error() != c.want {
			t.Errorf("%s: %v, want %s", what, c.err, c.want)
		}
	}
	testenv.Must(t, r.store.Close())
	for _, err := range r.mustFail(t, "after Close", keystore.ErrClosed) {
		if err != keystore.ErrClosed {
			t.Errorf("after Close: %v", err)
		}
	}
}
