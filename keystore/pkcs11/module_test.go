//go:build cgo

package pkcs11_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestSecondInitialize: NetHSM's module and kryoptic answer CKR_OK to a second C_Initialize.
// The first Store must not lose the module to it, nor to the C_Finalize of a Store or
// ProofSigner that closes.
func TestSecondInitialize(t *testing.T) {
	r := newRig(t, 2)
	r.proxy.Forgive()
	proof := generateProofKey(t, proofURI(r.token, r.proxy.Module, "object=proof;id=%01"), r.token)
	r.mustSign(t, "beside a key of app proofs")
	second, err := pkcs11.Open(t.Context(), r.token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(r.token.PIN)})
	testenv.Must(t, err)
	testenv.Must(t, second.Close())
	r.mustSign(t, "after another store was closed")
	r.proxy.KillSessions(1)
	r.mustSign(t, "in a new session")
	digest := sha256.Sum256(nil)
	r.proxy.Remove() // reconnecting fails
	if _, err := proof.Sign(nil, digest[:], nil); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("app proof without the token: %v, want ErrUnavailable", err)
	}
	r.proxy.Insert()
	r.mustSign(t, "after the app-proof key has reconnected")
	if _, err := proof.Sign(nil, digest[:], nil); err != nil {
		t.Errorf("app proof afterwards: %v", err)
	}
	testenv.Must(t, proof.Close())
	r.mustSign(t, "after the app-proof key was closed")
}

// TestSecondInitializeAtOpen is the same from the start: the module answers CKR_OK when the
// second binding initializes it too.
func TestSecondInitializeAtOpen(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	proxy.Forgive()
	for range 2 {
		store, err := pkcs11.Open(t.Context(), token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
		testenv.Must(t, err)
		generate(t, store, org, "", keystore.CurveEd25519)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoPathsToOneModule: Debian links /usr/lib/softhsm to an architecture-specific
// directory.
func TestTwoPathsToOneModule(t *testing.T) {
	token, store := newStore(t)
	link := filepath.Join(t.TempDir(), "link.so")
	testenv.Must(t, os.Symlink(token.Module, link))
	info := generate(t, store, org, "", keystore.CurveSecp256k1)
	other := open(t, token.URI(link), pkcs11.Options{PIN: []byte(token.PIN)})
	if listed := list(t, other, org); len(listed) != 1 || listed[0] != info {
		t.Errorf("by the other path: %v, want %v", listed, info)
	}
	proof := generateProofKey(t, proofURI(token, link, "object=proof;id=%01"), token)
	testenv.Must(t, proof.Close())
}

// TestP11Kit creates and uses keys through p11-kit's client module, which forwards to a server
// in another process, and through its proxy module. Both keep separate state for each binding
// in a process.
func TestP11Kit(t *testing.T) {
	token := testenv.SoftHSM(t)
	for name, module := range map[string]string{
		"client": testenv.P11KitClient(t, token),
		"proxy":  testenv.P11KitProxy(t, token),
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t, token.URI(module), pkcs11.Options{PIN: []byte(token.PIN)})
			curves := []keystore.Curve{keystore.CurveSecp256k1}
			if name == "proxy" { // p11-kit 0.24 does not forward EdDSA to another process
				curves = append(curves, keystore.CurveEd25519)
			}
			for _, curve := range curves {
				info := generate(t, store, org, name, curve)
				key, err := store.Find(t.Context(), org, keystore.ByID(info.ID))
				testenv.Must(t, err)
				if _, err := sign(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
			proof := generateProofKey(t, proofURI(token, module, "object="+name+";id=%01"), token)
			digest := sha256.Sum256(nil)
			if _, err := proof.Sign(nil, digest[:], nil); err != nil {
				t.Error(err)
			}
			testenv.Must(t, proof.Close())
		})
	}
}

// TestModuleLoadError: the error has the system's reason.
func TestModuleLoadError(t *testing.T) {
	folder := t.TempDir()
	library := func(name, source string, args ...string) string {
		path := filepath.Join(folder, name)
		command := exec.CommandContext(t.Context(), testenv.Tool(t, "gcc"), append([]string{"-shared", "-fPIC", "-xc", "-", "-o", path}, args...)...)
		command.Stdin = strings.NewReader(source)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		return path
	}
	needed := library("libneeded.so", "int needed;")
	needing := library("needing.so", "extern int needed; int *f(void) { return &needed; }", "-Wl,--no-as-needed", "-L", folder, "-lneeded")
	testenv.Must(t, os.Remove(needed))
	for path, want := range map[string]string{
		"/etc/passwd":                    "file too short|invalid ELF header",
		needing:                          "libneeded.so: cannot open shared object file",
		library("plain.so", "int none;"): "it has no C_GetFunctionList",
	} {
		_, err := pkcs11.Open(t.Context(), "pkcs11:token=a?module-path="+path, pkcs11.Options{PIN: []byte("1")})
		matches := false
		for text := range strings.SplitSeq(want, "|") {
			matches = matches || err != nil && strings.Contains(err.Error(), text)
		}
		if !matches {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestTokenFlagsBeforeLogin: a PIN is not tried on a token that reports that the last one was
// wrong. A program restarted by a supervisor would lock it.
func TestTokenFlagsBeforeLogin(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	for _, c := range []struct {
		flag           uint
		name           string
		tried, retried int
	}{
		{miekg.CKF_USER_PIN_COUNT_LOW, "CKF_USER_PIN_COUNT_LOW", 0, 1},
		{miekg.CKF_USER_PIN_FINAL_TRY, "CKF_USER_PIN_FINAL_TRY", 0, 1},
		{miekg.CKF_USER_PIN_LOCKED, "CKF_USER_PIN_LOCKED", 0, 0},
	} {
		proxy.AddFlags(c.flag)
		for retry, want := range map[bool]int{false: c.tried, true: c.retried} {
			before := proxy.Logins()
			uri := token.URI(proxy.Module)
			if retry {
				uri += "&countersign-retry-pin=yes"
			}
			store, err := pkcs11.Open(t.Context(), uri, pkcs11.Options{PIN: []byte(token.PIN)})
			if err == nil {
				store.Close()
			}
			if tried := proxy.Logins() - before; tried != want || want == 0 && (!errors.Is(err, pkcs11.ErrPIN) || !strings.Contains(err.Error(), c.name)) || want == 1 && err != nil {
				t.Errorf("%s, retry %v: %v after %d logins, want %d", c.name, retry, err, tried, want)
			}
		}
	}
	proxy.AddFlags(0)
	open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
}

// TestRestartsDoNotLockTheToken opens the store repeatedly with a wrong PIN, like
// Restart=on-failure. SoftHSM reports the first one by a flag. The PIN is tried once, and only on the
// selected token, and the error names its file and says that a try is used up.
func TestRestartsDoNotLockTheToken(t *testing.T) {
	token := testenv.SoftHSM(t)
	token.Add(t, "other")
	proxy := faultproxy.Build(t, token.Module)
	path := pinFile(t, "a wrong PIN", 0o600)
	for start := range 5 {
		_, err := pkcs11.Open(t.Context(), token.URI(proxy.Module), pkcs11.Options{PINFile: path})
		if !errors.Is(err, pkcs11.ErrPIN) {
			t.Fatalf("%v, want ErrPIN", err)
		}
		if start == 0 && (!strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "one of the token's tries")) {
			t.Errorf("%v, want the file's name and that a try is used up", err)
		}
	}
	if proxy.Logins() != 1 {
		t.Errorf("the PIN was tried %d times in 5 starts, want 1", proxy.Logins())
	}
}

// TestChangedPINIsTriedOnce: a Store and a ProofSigner together try a changed PIN once per
// process, so that the token does not lock itself.
func TestChangedPINIsTriedOnce(t *testing.T) {
	r := newRig(t, 2)
	proof := generateProofKey(t, proofURI(r.token, r.proxy.Module, "object=proof;id=%01"), r.token)
	before := r.proxy.Logins()
	r.proxy.LogOut(1)
	r.proxy.RefusePIN(100)
	digest := sha256.Sum256(nil)
	for range 3 {
		r.mustFail(t, "after the PIN was changed", pkcs11.ErrPIN)
		r.mustFail(t, "after the PIN was changed", keystore.ErrDenied)
		if _, err := proof.Sign(nil, digest[:], nil); err == nil {
			t.Error("an app proof without login")
		}
	}
	if tried := r.proxy.Logins() - before; tried != 1 {
		t.Errorf("the changed PIN was tried %d times, want once", tried)
	}
}

// TestCloseTimeout: a hanging token must not block Close, so that SIGTERM ends the program.
// Operations in progress are abandoned.
func TestCloseTimeout(t *testing.T) {
	r := newRig(t, 2)
	store, err := pkcs11.Open(t.Context(), r.token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(r.token.PIN)})
	testenv.Must(t, err)
	store.SetCloseTimeout(time.Millisecond)
	key, err := store.Find(t.Context(), "org", keystore.ByID(r.keys[0].ID()))
	testenv.Must(t, err)
	r.proxy.Hang(true)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- errOfSign(sign(ctx, key)) }()
	testenv.Await(t, "the signature hangs", func() bool { return r.proxy.Signing() > 0 || len(ended) > 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("signing: %v, want Canceled", err)
	}
	if err := store.Close(); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("Close: %v, want ErrUnavailable", err)
	}
	if err := store.Close(); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("Close again: %v, want the same", err)
	}
	r.proxy.Hang(false)
	r.mustSign(t, "in the other store")
	testenv.Must(t, r.store.Close())
	testenv.Await(t, "the module is finalized when the token has answered", func() bool { return pkcs11.ModulesOpen() == 0 })
}

func errOfSign(_ []byte, err error) error { return err }

// TestOpenObeysItsContext: Open returns when its context ends while the token hangs at the
// login.
func TestOpenObeysItsContext(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	proxy.Fail(faultproxy.Login, faultproxy.Hold)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := pkcs11.Open(ctx, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
		ended <- err
	}()
	testenv.Await(t, "the login hangs", func() bool { return proxy.Calls(faultproxy.Login) > 0 || len(ended) > 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v, want Canceled", err)
	}
	proxy.Release(faultproxy.Login)
	store := open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)}) // the abandoned connection was closed
	generate(t, store, org, "", keystore.CurveEd25519)
}

// TestReady: a token that is absent, hangs or has another PIN is not ready, and Ready reports
// that within its bound.
func TestReady(t *testing.T) {
	r := newRig(t, 1)
	r.awaitReady(t, "at first")
	r.proxy.Remove()
	if err := r.store.Ready(t.Context()); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("without the token: %v, want ErrUnavailable", err)
	}
	r.mustFail(t, "without the token", keystore.ErrUnavailable)
	r.proxy.Insert()
	r.awaitReady(t, "with the token again")
	r.hang(t, 1)
	if err := r.store.Ready(t.Context()); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("while it hangs: %v, want ErrUnavailable", err)
	}
	r.release(t)
	r.awaitReady(t, "afterwards")
	r.proxy.LogOut(1)
	r.proxy.RefusePIN(1)
	r.mustFail(t, "with another PIN", pkcs11.ErrPIN)
	if err := r.store.Ready(t.Context()); !errors.Is(err, keystore.ErrUnavailable) {
		t.Errorf("with another PIN: %v, want ErrUnavailable", err)
	}
}

// awaitReady calls Ready until it answers within the bound, for which a busy machine may be
// too slow.
func (r *rig) awaitReady(t *testing.T, when string) {
	t.Helper()
	testenv.Await(t, "the token is ready "+when, func() bool { return r.store.Ready(t.Context()) == nil })
}
