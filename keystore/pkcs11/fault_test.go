//go:build cgo

package pkcs11_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// rig is a token behind the proxy, with a key of each curve.
type rig struct {
	proxy *faultproxy.Proxy
	token testenv.Token
	store *pkcs11.Store
	keys  []keystore.Key // secp256k1, Ed25519
}

func newRig(t testing.TB, sessions int) *rig {
	t.Helper()
	token := testenv.SoftHSM(t)
	r := &rig{token: token, proxy: faultproxy.Build(t, token.Module)}
	r.store = open(t, token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(token.PIN), Sessions: sessions})
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		info, err := r.store.Generate(t.Context(), "org", "", curve)
		testenv.Must(t, err)
		key, err := r.store.Find(t.Context(), "org", keystore.ByID(info.ID))
		testenv.Must(t, err)
		r.keys = append(r.keys, key)
	}
	return r
}

// sign makes a signature of any scheme, and verifies it independently of the key.
func sign(ctx context.Context, key keystore.Key) ([]byte, error) {
	digest := [32]byte{1, 2, 3}
	if signer, ok := key.(keystore.ECDSASigner); ok {
		signature, err := signer.SignECDSA(ctx, digest)
		if err == nil {
			err = keystore.VerifyECDSA(key.PublicKey(), digest, signature)
		}
		return signature[:], err
	}
	signature, err := key.(keystore.Ed25519Signer).SignEd25519(ctx, digest[:])
	return signature[:], err
}

func (r *rig) mustSign(t *testing.T, when string) {
	t.Helper()
	for _, key := range r.keys {
		if _, err := sign(t.Context(), key); err != nil {
			t.Errorf("%s: %v: %v", when, key.PublicKey().Curve(), err)
		}
	}
}

// mustFail tries each key, and returns the errors.
func (r *rig) mustFail(t *testing.T, when string, want error) []error {
	t.Helper()
	var all []error
	for _, key := range r.keys {
		signature, err := sign(t.Context(), key)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v: %v, want %v", when, key.PublicKey().Curve(), err, want)
		}
		if strings.Trim(string(signature), "\x00") != "" {
			t.Errorf("%s: %v: a signature was returned along with %v", when, key.PublicKey().Curve(), err)
		}
		all = append(all, err)
	}
	return all
}

func TestFlippedBit(t *testing.T) {
	r := newRig(t, 1)
	for bit := 0; bit < 64*8; bit += 7 {
		r.proxy.FlipBit(bit)
		for i, err := range r.mustFail(t, fmt.Sprintf("bit %d", bit), keystore.ErrSignatureCheck) {
			scheme := []string{"ecdsa", "ed25519"}[i]
			if err != nil && (!strings.Contains(err.Error(), "signature check failed: "+scheme) || !strings.Contains(err.Error(), r.keys[i].ID())) {
				t.Errorf("bit %d: %v does not name the check and the key", bit, err)
			}
		}
	}
	r.proxy.FlipBit(-1)
	r.mustSign(t, "when the token works again")
}

// TestRecovers injects each fault once, which no caller notices, and then for both tries of a
// call: that call fails, and the next one succeeds.
func TestRecovers(t *testing.T) {
	for name, inject := range map[string]func(*faultproxy.Proxy, int){
		"sessions killed": (*faultproxy.Proxy).KillSessions,
		"login lost":      (*faultproxy.Proxy).LogOut,
		"device error":    (*faultproxy.Proxy).Break,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2)
			uncancellable := context.WithoutCancel(t.Context()) // signs in the caller's goroutine
			for _, ctx := range []context.Context{t.Context(), uncancellable} {
				for _, key := range r.keys {
					inject(r.proxy, 1)
					if _, err := sign(ctx, key); err != nil {
						t.Errorf("one fault: %v", err)
					}
					inject(r.proxy, 2)
					if _, err := sign(ctx, key); !errors.Is(err, keystore.ErrUnavailable) || !strings.Contains(err.Error(), "tried twice") {
						t.Errorf("two faults: %v", err)
					}
					r.mustSign(t, "after two faults")
				}
			}
			if open := r.proxy.Open(); open > 3 {
				t.Errorf("%d sessions are open, want 2 and crypto11's at most", open)
			}
		})
	}
}

func TestTokenRemovedAndBack(t *testing.T) {
	r := newRig(t, 2)
	for _, slot := range []int{0, 0, 4711} { // the last time in another slot
		r.proxy.Remove()
		for range 3 {
			for _, err := range r.mustFail(t, "without a token", keystore.ErrUnavailable) {
				if err != nil && !strings.Contains(err.Error(), "no token matches the URI; present: none") {
					t.Errorf("without a token: %v does not say which", err)
				}
			}
		}
		if _, err := r.store.Generate(t.Context(), "org", "", keystore.CurveEd25519); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("generate without a token: %v", err)
		}
		r.proxy.MoveTo(slot)
		r.proxy.Insert()
		r.mustSign(t, fmt.Sprintf("with the token back in slot %d", slot))
	}
	if _, err := r.store.Generate(t.Context(), "org", "", keystore.CurveEd25519); err != nil {
		t.Errorf("generate with the token back: %v", err)
	}
}

// TestScanWithoutLogin: a session that has lost its login sees no private keys, and no error
// either. The Store must not conclude that there are none.
func TestScanWithoutLogin(t *testing.T) {
	r := newRig(t, 2)
	r.hang(t, 2) // opens two sessions, of which one stays
	r.release(t)
	r.store.Forget()
	r.proxy.LogOut(2)
	if _, err := sign(t.Context(), r.keys[0]); err == nil {
		t.Error("signed without a login")
	}
	if _, err := r.store.Find(t.Context(), "org", keystore.ByID("unknown")); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("an unknown key: %v", err)
	}
	for _, key := range r.keys {
		if _, err := r.store.Find(t.Context(), "org", keystore.ByID(key.ID())); err != nil {
			t.Errorf("a known key: %v", err)
		}
	}
}

// TestSessionCap: the token grants two sessions to a pool of eight.
func TestSessionCap(t *testing.T) {
	r := newRig(t, 8)
	r.proxy.CapSessions(3) // one is crypto11's
	var done sync.WaitGroup
	for worker := range 16 {
		done.Go(func() {
			for range 10 {
				if _, err := sign(t.Context(), r.keys[worker%2]); err != nil {
					t.Errorf("worker %d: %v", worker, err)
				}
			}
		})
	}
	done.Wait()
	if open := r.proxy.Open(); open > 3 {
		t.Errorf("%d sessions are open, want 3 at most", open)
	}
	r.mustWait(t)
}

// TestPoolIsFull: callers wait for the pool while all its sessions hang in the token.
func TestPoolIsFull(t *testing.T) {
	r := newRig(t, 2)
	r.mustWait(t)
}

// mustWait expects callers to wait while two signatures hang in the token.
func (r *rig) mustWait(t *testing.T) {
	t.Helper()
	r.hang(t, 2)
	for _, wait := range []time.Duration{0, 30 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if _, err := sign(ctx, r.keys[0]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want context.DeadlineExceeded", err)
		}
		cancel()
	}
	r.release(t)
	r.mustSign(t, "when sessions are free again")
}

// hang makes a number of signatures hang in the token. Their callers give up.
func (r *rig) hang(t *testing.T, signatures int) {
	t.Helper()
	r.proxy.Hang(true)
	for worker := range signatures {
		ctx, giveUp := context.WithCancel(t.Context())
		gaveUp := make(chan error, 1)
		go func() {
			_, err := sign(ctx, r.keys[worker%2])
			gaveUp <- err
		}()
		testenv.Await(t, "a signature hangs", func() bool { return r.proxy.Signing() > worker })
		giveUp()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want context.Canceled", err)
		}
	}
}

func (r *rig) release(t *testing.T) {
	t.Helper()
	r.proxy.Hang(false)
	testenv.Await(t, "the token signs no more", func() bool { return r.proxy.Signing() == 0 })
}

// TestCloseWaits: Close waits for operations in progress.
func TestCloseWaits(t *testing.T) {
	r := newRig(t, 3)
	r.hang(t, 1)
	var patient sync.WaitGroup
	patient.Go(func() {
		if _, err := sign(context.WithoutCancel(t.Context()), r.keys[0]); err != nil {
			t.Errorf("a call without a cancellable context: %v", err)
		}
	})
	testenv.Await(t, "both signatures hang", func() bool { return r.proxy.Signing() == 2 })
	closed := make(chan error)
	go func() { closed <- r.store.Close() }()
	<-r.store.Closing()
	r.mustFail(t, "while closing", keystore.ErrClosed)
	select {
	case err := <-closed:
		t.Errorf("Close returned %v while the token was signing", err)
	default:
	}
	r.proxy.Hang(false)
	testenv.Must(t, <-closed)
	patient.Wait()
}
