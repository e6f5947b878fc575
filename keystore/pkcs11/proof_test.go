//go:build cgo

package pkcs11_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// proofURI names a key pair on a token.
func proofURI(token testenv.Token, module, key string) string {
	return strings.Replace(token.URI(module), "?", ";"+key+"?", 1)
}

// generateProofKey generates the key pair that a URI names, as docs/hsm.md says, and opens it.
func generateProofKey(t *testing.T, uri string, token testenv.Token) *pkcs11.ProofSigner {
	t.Helper()
	named, err := pkcs11.ParseURI(uri)
	testenv.Must(t, err)
	token.GenerateP256(t, named.Object, named.ID)
	signer, err := pkcs11.OpenProofSigner(t.Context(), uri, pkcs11.Options{PIN: []byte(token.PIN)})
	testenv.Must(t, err)
	t.Cleanup(func() {
		if err := signer.Close(); err != nil {
			t.Error(err)
		}
	})
	return signer
}

func mustProve(t *testing.T, signer *pkcs11.ProofSigner, when string) {
	t.Helper()
	digest := sha256.Sum256([]byte(when))
	signature, err := signer.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		t.Errorf("%s: %v", when, err)
		return
	}
	if !ecdsa.VerifyASN1(signer.Public().(*ecdsa.PublicKey), digest[:], signature) {
		t.Errorf("%s: the signature does not verify", when)
	}
}

func TestProofSigner(t *testing.T) {
	token := testenv.SoftHSM(t)
	options := pkcs11.Options{PIN: []byte(token.PIN)}
	uri := proofURI(token, "", "object=proof;id=%01")
	signer := generateProofKey(t, uri, token)
	for _, key := range []string{"object=proof", "id=%01", "id=%01;object=proof;type=private"} {
		found, err := pkcs11.OpenProofSigner(t.Context(), proofURI(token, "", key), options)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if !signer.Public().(*ecdsa.PublicKey).Equal(found.Public()) {
			t.Errorf("%s: another key", key)
		}
		mustProve(t, found, key)
		if err := errors.Join(found.Close(), found.Close()); err != nil {
			t.Errorf("%s: Close: %v", key, err)
		}
		if _, err := found.Sign(nil, make([]byte, 32), crypto.SHA256); !errors.Is(err, keystore.ErrClosed) {
			t.Errorf("%s: after Close: %v, want ErrClosed", key, err)
		}
	}
}

func TestProofSignerRefuses(t *testing.T) {
	token := testenv.SoftHSM(t)
	options := pkcs11.Options{PIN: []byte(token.PIN)}
	signer := generateProofKey(t, proofURI(token, "", "object=proof;id=%01"), token)
	for _, size := range []int{0, 31, 33, 64} {
		if _, err := signer.Sign(nil, make([]byte, size), crypto.SHA256); err == nil || !strings.Contains(err.Error(), "digests of 32 bytes") {
			t.Errorf("digest of %d bytes: %v", size, err)
		}
	}
	if _, err := signer.Sign(nil, make([]byte, 32), crypto.SHA384); err == nil {
		t.Error("signed as SHA-384")
	}
	for key, want := range map[string]string{
		"":               "no key is named",
		"object=nothing": "has no key pair",
		"id=%02":         "has no key pair",
	} {
		if _, err := pkcs11.OpenProofSigner(t.Context(), strings.Replace(proofURI(token, "", key), ";?", "?", 1), options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", key, err, want)
		}
	}
}

// TestProofKeyIsNotASigningKey: no locator finds the app-proof key, and it is not listed.
func TestProofKeyIsNotASigningKey(t *testing.T) {
	token := testenv.SoftHSM(t)
	generateProofKey(t, proofURI(token, "", "object=org%2Fproof;id=0123456789abcdef"), token)
	store := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN), Organization: "org"})
	for info, err := range store.Keys(t.Context(), "org") {
		t.Errorf("listed: %v, %v", info, err)
	}
	for _, id := range []string{"30313233-3435-3637-3839-616263646566", "org/proof"} {
		if _, err := store.Find(t.Context(), "org", keystore.ByID(id)); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("found by id %s: %v", id, err)
		}
	}
}

// TestProofSignerRecovers: a ProofSigner and a Store on the same module recover without
// disturbing each other.
func TestProofSignerRecovers(t *testing.T) {
	r := newRig(t, 2)
	signer := generateProofKey(t, proofURI(r.token, r.proxy.Module, "object=proof;id=%01"), r.token)
	for name, inject := range map[string]func(*faultproxy.Proxy, int){
		"sessions killed": (*faultproxy.Proxy).KillSessions,
		"login lost":      (*faultproxy.Proxy).LogOut,
		"device error":    (*faultproxy.Proxy).Break,
	} {
		inject(r.proxy, 1)
		mustProve(t, signer, name)
		mustProve(t, signer, name+", again")
		r.mustSign(t, name+", the store")
	}
	r.proxy.Remove()
	for range 3 {
		if _, err := signer.Sign(nil, make([]byte, 32), crypto.SHA256); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("without a token: %v", err)
		}
	}
	r.mustFail(t, "without a token", keystore.ErrUnavailable)
	r.proxy.Insert()
	mustProve(t, signer, "with the token back")
	r.mustSign(t, "with the token back, the store")
	if open := r.proxy.Open(); open > 2+1+1+1 {
		t.Errorf("%d sessions are open, want those of the pool, one of the proof key and two of crypto11 at most", open)
	}
}

func TestProofSignerConcurrently(t *testing.T) {
	r := newRig(t, 2)
	signer := generateProofKey(t, proofURI(r.token, r.proxy.Module, "object=proof;id=%01"), r.token)
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for range 20 {
				mustProve(t, signer, "concurrently")
			}
		})
	}
	done.Wait()
	if shared := r.proxy.Shared(); shared != 0 {
		t.Errorf("sessions were used by two threads at once, %d times", shared)
	}
}
