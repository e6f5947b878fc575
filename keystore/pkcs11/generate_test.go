//go:build cgo

package pkcs11_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// objects counts the keys on the token, public and private.
func (b bare) objects(t testing.TB) int {
	t.Helper()
	return len(b.find(t, miekg.CKO_PRIVATE_KEY, "")) + len(b.find(t, miekg.CKO_PUBLIC_KEY, ""))
}

// TestGenerateFails makes one step after the other fail while a key is created. The error
// names the step, and no object of the key stays on the token.
func TestGenerateFails(t *testing.T) {
	r := newRig(t, 1)
	b := openBare(t, r.token)
	generate := func() error { return errOfInfo(r.store.Generate(t.Context(), "org", "new", keystore.CurveSecp256k1)) }
	secret := []byte(strings.Repeat("\x07", 32))
	bring := func() error {
		return errOfInfo(r.store.Add(t.Context(), "org", keystore.NewKey{Name: "new", Curve: keystore.CurveEd25519, Secret: secret}))
	}
	fail := func(function faultproxy.Function, with uint, number int) func() {
		return func() { r.proxy.Fail(function, with, number) }
	}
	for name, c := range map[string]struct {
		make   func() error
		inject func()
		want   string
		is     error
	}{
		"the token makes no keys": {
			make: generate, inject: fail(faultproxy.GenerateKeyPair, miekg.CKR_HOST_MEMORY, 0),
			want: "generate key: pkcs11: changing the token: pkcs11: 0x2: CKR_HOST_MEMORY",
		},
		"the token breaks": {
			make: generate, inject: fail(faultproxy.GenerateKeyPair, miekg.CKR_DEVICE_ERROR, 0),
			want: "generate key: keystore: unavailable: changing the token: pkcs11: 0x30: CKR_DEVICE_ERROR", is: keystore.ErrUnavailable,
		},
		"the private object is not taken": {
			make: bring, inject: fail(faultproxy.CreateObject, miekg.CKR_HOST_MEMORY, 0),
			want: "import key: pkcs11: changing the token: pkcs11: 0x2: CKR_HOST_MEMORY",
		},
		"the public object is not taken": {
			make: bring, inject: fail(faultproxy.CreateObject, miekg.CKR_HOST_MEMORY, 1),
			want: "import key: pkcs11: changing the token: pkcs11: 0x2: CKR_HOST_MEMORY",
		},
		"nobody knows whether the key is there already": {
			make: bring, inject: func() {
				r.store.Forget()
				r.proxy.Fail(faultproxy.FindObjectsInit, miekg.CKR_HOST_MEMORY, 0)
			},
			want: "import key: pkcs11: reading the keys of the token: pkcs11: 0x2: CKR_HOST_MEMORY",
		},
		"the key cannot be read back": {
			make: generate, inject: fail(faultproxy.FindObjectsInit, miekg.CKR_HOST_MEMORY, 0),
			want: "generate key: pkcs11: reading the keys of the token: pkcs11: 0x2: CKR_HOST_MEMORY",
		},
		"the token does not tell whose the private object is": {
			make: generate, inject: fail(faultproxy.GetAttributeValue, miekg.CKR_HOST_MEMORY, 0),
			want: "generate key: pkcs11: changing the token: pkcs11: 0x2: CKR_HOST_MEMORY",
		},
		"the token does not tell the public key": {
			make: bring, inject: fail(faultproxy.GetAttributeValue, miekg.CKR_ATTRIBUTE_TYPE_INVALID, 4),
			want: "or name the key in Options.PublicKeys\nthe token does not return the key that it created",
		},
		"its signature does not verify": {
			make: generate, inject: func() { r.proxy.FlipBit(7) },
			want: "does not belong to the private key", is: keystore.ErrSignatureCheck,
		},
		"no more sessions": {
			make: generate, inject: func() { r.proxy.CapSessions(r.proxy.Open()) },
			want: "generate key: keystore: unavailable: throttled: opening a writable session: the token has no more sessions: use fewer with countersign-sessions", is: keystore.ErrUnavailable,
		},
		"the name is none": {
			make: func() error {
				return errOfInfo(r.store.Add(t.Context(), "org", keystore.NewKey{Name: "\n", Curve: keystore.CurveEd25519, Secret: secret}))
			},
			inject: func() {},
			want:   "import key: name has the invisible or control character",
		},
	} {
		before := b.objects(t)
		c.inject()
		err := c.make()
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || c.is == nil && errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		r.proxy.ReleaseAll()
		r.proxy.FlipBit(-1)
		r.proxy.CapSessions(0)
		if after := b.objects(t); after != before {
			t.Errorf("%s: %d objects on the token, want %d", name, after, before)
		}
		r.mustSign(t, "after "+name)
	}
	r.store.Forget()
	r.mustList(t, "in the end")
	for _, again := range []func() error{generate, bring} {
		if err := again(); err != nil {
			t.Errorf("in the end: %v", err)
		}
	}
}

// TestBadKeyStays: the token creates a key that does not work, and it cannot be destroyed: the token
// refuses, or the handles of the new key have become invalid. The error reports both, and no other
// key is destroyed.
func TestBadKeyStays(t *testing.T) {
	for want, happens := range map[string]func(r *rig){
		"CKR_HOST_MEMORY": func(r *rig) { r.proxy.Fail(faultproxy.DestroyObject, miekg.CKR_HOST_MEMORY) },
		"stays on the token: pkcs11: 0x82: CKR_OBJECT_HANDLE_INVALID": func(r *rig) { r.proxy.KillSessions(1) },
	} {
		t.Run(want, func(t *testing.T) {
			r := newRig(t, 1)
			r.proxy.FlipBit(7)
			happens(r)
			_, err := r.store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
			if !errors.Is(err, keystore.ErrSignatureCheck) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want ErrSignatureCheck and %q", err, want)
			}
			r.proxy.FlipBit(-1)
			r.mustList(t, "without it")
			r.mustSign(t, "the others")
		})
	}
}

// TestOtherFormOfCurve: the module requires another form of the curve's name.
func TestOtherFormOfCurve(t *testing.T) {
	r := newRig(t, 1)
	for _, value := range []uint{miekg.CKR_CURVE_NOT_SUPPORTED, miekg.CKR_DOMAIN_PARAMS_INVALID} {
		r.proxy.Fail(faultproxy.GenerateKeyPair, value, 0)
		if _, err := r.store.Generate(t.Context(), "org", "", keystore.CurveEd25519); err != nil {
			t.Error(err)
		}
	}
	r.proxy.Fail(faultproxy.GenerateKeyPair, miekg.CKR_CURVE_NOT_SUPPORTED, 0, 1)
	_, err := r.store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	if err == nil || !strings.Contains(err.Error(), "0x140") {
		t.Errorf("by no form: %v", err)
	}
}

// TestGenerateHangs: a caller that creates a key does not wait beyond its context, and no
// object of the key stays on the token.
func TestGenerateHangs(t *testing.T) {
	secret := []byte(strings.Repeat("\x07", 32))
	for name, c := range map[string]struct {
		hang, release func(*faultproxy.Proxy)
		begun         faultproxy.Function
		calls         int // of it, of which the last one hangs
		removed       int // objects created nevertheless, and removed
		want          string
	}{
		"the signature of the new key": {
			hang:    func(p *faultproxy.Proxy) { p.Hang(true) },
			release: func(p *faultproxy.Proxy) { p.Hang(false) },
			begun:   faultproxy.Sign, calls: 1, removed: 2,
			want: "import key: context canceled\nthe new key is removed when the token answers",
		},
		"opening a session": {
			hang:    func(p *faultproxy.Proxy) { p.Fail(faultproxy.OpenSession, faultproxy.Hold, 0) },
			release: func(p *faultproxy.Proxy) { p.Release(faultproxy.OpenSession) },
			begun:   faultproxy.OpenSession, calls: 1,
			want: "import key: context canceled",
		},
		"creating the public object": {
			hang:    func(p *faultproxy.Proxy) { p.Fail(faultproxy.CreateObject, faultproxy.Hold, 1) },
			release: func(p *faultproxy.Proxy) { p.Release(faultproxy.CreateObject) },
			begun:   faultproxy.CreateObject, calls: 2, removed: 2,
			want: "import key: context canceled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			b := openBare(t, r.token)
			before, calls := b.objects(t), r.proxy.Calls(c.begun)+c.calls
			removed := r.proxy.Calls(faultproxy.DestroyObject) + c.removed
			c.hang(r.proxy)
			ctx, cancel := context.WithCancel(t.Context())
			own := []byte(string(secret))
			made := make(chan error)
			go func() {
				made <- errOfInfo(r.store.Add(ctx, "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: own}))
			}()
			testenv.Await(t, "it hangs", func() bool { return r.proxy.Calls(c.begun) == calls })
			cancel()
			select {
			case err := <-made:
				if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("%v, want context.Canceled and %q", err, c.want)
				}
			case <-time.After(testenv.Patience):
				t.Error("it hangs beyond its context")
			}
			keystore.Wipe(own) // the caller's slice
			c.release(r.proxy)
			testenv.Await(t, "the key is removed", func() bool { return r.proxy.Calls(faultproxy.DestroyObject) >= removed })
			r.mustSign(t, "afterwards") // in the only session, after the other operation
			if left := b.objects(t); left != before {
				t.Errorf("%d objects on the token, want %d", left, before)
			}
			r.mustList(t, "afterwards")
			importKey(t, r.store, "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret})
		})
	}
}

// TestGenerateCancelled: whenever the caller gives up, the token has exactly the keys that
// Generate has returned.
func TestGenerateCancelled(t *testing.T) {
	r := newRig(t, 2)
	b := openBare(t, r.token)
	start := time.Now()
	if _, err := r.store.Generate(t.Context(), "org", "", keystore.CurveSecp256k1); err != nil {
		t.Fatal(err)
	}
	took, want := time.Since(start), b.objects(t)
	const rounds = 60
	for i := range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(i)*3/(2*rounds))
		_, err := r.store.Generate(ctx, "org", "", keystore.CurveSecp256k1)
		cancel()
		switch {
		case err == nil:
			want += 2
		case !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		}
	}
	testenv.Await(t, "the others are removed", func() bool { return b.objects(t) == want })
	r.mustSign(t, "afterwards")
}

// TestScanHangs: a scan hangs for a caller without a deadline. Callers with one do not wait
// for it.
func TestScanHangs(t *testing.T) {
	r := newRig(t, 2)
	r.store.Forget()
	r.proxy.Fail(faultproxy.FindObjectsInit, faultproxy.Hold, 0)
	calls := r.proxy.Calls(faultproxy.FindObjectsInit)
	patient := make(chan struct{})
	go func() {
		defer close(patient)
		if _, err := ids(context.WithoutCancel(t.Context()), r.store); err != nil {
			t.Errorf("the caller without a deadline: %v", err)
		}
	}()
	testenv.Await(t, "it hangs", func() bool { return r.proxy.Calls(faultproxy.FindObjectsInit) > calls })
	for what, try := range map[string]func(ctx context.Context) error{
		"Find": func(ctx context.Context) error {
			return errOf(r.store.Find(ctx, "org", keystore.ByID("unknown")))
		},
		"Keys": func(ctx context.Context) error {
			_, err := ids(ctx, r.store)
			return err
		},
		"Generate": func(ctx context.Context) error {
			return errOfInfo(r.store.Generate(ctx, "org", "", keystore.CurveEd25519))
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- try(ctx) }()
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v, want context.DeadlineExceeded", what, err)
			}
		case <-time.After(testenv.Patience):
			t.Errorf("%s hangs beyond its context", what)
		}
		cancel()
	}
	r.mustSign(t, "with keys that are known")
	if _, err := r.store.Find(t.Context(), "org", keystore.ByID(r.keys[0].ID())); err != nil {
		t.Errorf("look-up of a known key: %v", err)
	}
	r.proxy.Release(faultproxy.FindObjectsInit)
	<-patient
	if _, err := r.store.Find(t.Context(), "org", keystore.ByID("unknown")); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("after the scan: %v", err)
	}
	r.mustList(t, "afterwards")
}

// TestCloseWhileWaiting: one signature hangs in the only session of the token, and another
// waits for that session. Close waits for the first and rejects the second.
func TestCloseWhileWaiting(t *testing.T) {
	r := newRig(t, 2)
	r.proxy.CapSessions(r.proxy.Open())
	r.proxy.Hang(true)
	forever := context.WithoutCancel(t.Context())
	first, second, closed := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	start := func(result chan error) {
		go func() {
			_, err := sign(forever, r.keys[0])
			result <- err
		}()
	}
	start(first)
	testenv.Await(t, "the first hangs", func() bool { return r.proxy.Signing() == 1 })
	refused := r.proxy.Calls(faultproxy.OpenSession)
	start(second)
	testenv.Await(t, "the second waits", func() bool { return r.proxy.Calls(faultproxy.OpenSession) > refused })
	go func() { closed <- r.store.Close() }()
	if err := <-second; err != keystore.ErrClosed {
		t.Errorf("the second: %v, want ErrClosed", err)
	}
	r.proxy.Hang(false)
	if err := errors.Join(<-first, <-closed); err != nil {
		t.Errorf("the first, or Close: %v", err)
	}
}
