//go:build cgo

package pkcs11_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// proofRig is a key of app proofs behind the proxy.
type proofRig struct {
	proxy  *faultproxy.Proxy
	token  testenv.Token
	uri    string
	signer *pkcs11.ProofSigner
}

func newProofRig(t *testing.T) *proofRig {
	t.Helper()
	token := testenv.SoftHSM(t)
	r := &proofRig{token: token, proxy: faultproxy.Build(t, token.Module)}
	r.uri = proofURI(token, r.proxy.Module, "object=proof;id=%01")
	r.signer = generateProofKey(t, r.uri, token)
	return r
}

func (r *proofRig) sign() ([]byte, error) { return r.signer.Sign(nil, make([]byte, 32), crypto.SHA256) }

// TestOpenProofSignerFails makes one step after the other fail.
// A key that has not signed is never used.
func TestOpenProofSignerFails(t *testing.T) {
	r := newProofRig(t)
	options := pkcs11.Options{PIN: []byte(r.token.PIN)}
	second := generateProofKey(t, proofURI(r.token, r.proxy.Module, "object=proof;id=%02"), r.token)
	b := openBare(t, r.token)
	p384 := []byte{0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22}
	template := []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_TOKEN, true), miekg.NewAttribute(miekg.CKA_LABEL, "p384"), miekg.NewAttribute(miekg.CKA_ID, []byte{3})}
	if _, _, err := b.GenerateKeyPair(b.session, []*miekg.Mechanism{miekg.NewMechanism(miekg.CKM_EC_KEY_PAIR_GEN, nil)},
		append(template[:3:3], miekg.NewAttribute(miekg.CKA_EC_PARAMS, p384)), append(template[:3:3], miekg.NewAttribute(miekg.CKA_SIGN, true))); err != nil {
		t.Fatal(err)
	}
	none := func() {}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		key     string
		options pkcs11.Options
		inject  func()
		want    string
		is      error
	}{
		"a URI of something else": {t.Context(), "tokens=a", options, none, "tokens: unknown attribute", nil},
		"no PIN":                  {t.Context(), "object=proof", pkcs11.Options{}, none, "no PIN: name its file with pin-source", nil},
		"a context that is over":  {ended, "id=%02", options, none, "context canceled", context.Canceled},
		"two keys of that label":  {t.Context(), "object=proof", options, none, `the token has 2 key pairs with object="proof", id=: name one by both`, nil},
		"a key on P-384":          {t.Context(), "id=%03", options, none, "the key of app proofs is not on P-256", nil},
		"no search": {
			t.Context(), "id=%02", options,
			func() { r.proxy.Fail(faultproxy.FindObjectsInit, miekg.CKR_HOST_MEMORY) }, "looking for the key of app proofs: pkcs11: 0x2: CKR_HOST_MEMORY", nil,
		},
		"a signature that does not verify": {
			t.Context(), "id=%02", options,
			func() { r.proxy.FlipBit(7) }, "signature check failed: ecdsa on P-256", keystore.ErrSignatureCheck,
		},
		"no signature": {
			t.Context(), "id=%02", options,
			func() { r.proxy.Fail(faultproxy.SignInit, miekg.CKR_HOST_MEMORY) }, "CKR_HOST_MEMORY", nil,
		},
	} {
		before := b.objects(t)
		c.inject()
		signer, err := pkcs11.OpenProofSigner(c.ctx, proofURI(r.token, r.proxy.Module, c.key), c.options)
		if signer != nil || err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, %v, want %q", name, signer, err, c.want)
		}
		r.proxy.FlipBit(-1)
		r.proxy.ReleaseAll()
		if after := b.objects(t); after != before {
			t.Errorf("%s: %d objects on the token, want %d", name, after, before)
		}
		mustProve(t, r.signer, "after "+name)
		mustProve(t, second, "after "+name)
	}
}

// TestProofSigningFails: signing fails twice, and once with an error that a new connection does
// not cure. Each try begins one signature.
func TestProofSigningFails(t *testing.T) {
	r := newProofRig(t)
	for name, c := range map[string]struct {
		inject func()
		want   string
		is     error
		begun  int
	}{
		"nothing": {func() {}, "", nil, 1},
		"no such mechanism": {
			func() { r.proxy.Fail(faultproxy.SignInit, miekg.CKR_MECHANISM_INVALID) }, "lists what it supports: pkcs11: 0x70: CKR_MECHANISM_INVALID", nil, 1,
		},
		"a flipped bit": {func() { r.proxy.FlipBit(7) }, "signing an app proof: keystore: signature check failed", keystore.ErrSignatureCheck, 1},
		"one error":     {func() { r.proxy.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_ERROR, 0) }, "", nil, 2},
		"two errors": {
			func() { r.proxy.Fail(faultproxy.SignInit, miekg.CKR_DEVICE_ERROR, 0, 1) },
			"signing an app proof: tried twice: pkcs11: 0x30: CKR_DEVICE_ERROR", keystore.ErrUnavailable, 2,
		},
		"no token": {r.proxy.Remove, "no token matches the URI", keystore.ErrUnavailable, 1},
	} {
		begun := r.proxy.Calls(faultproxy.SignInit)
		c.inject()
		signature, err := r.sign()
		if begun = r.proxy.Calls(faultproxy.SignInit) - begun; begun != c.begun {
			t.Errorf("%s: %d signatures begun, want %d", name, begun, c.begun)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || signature != nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.is) && c.is != nil) {
			t.Errorf("%s: %x, %v, want %q", name, signature, err, c.want)
		}
		r.proxy.Release(faultproxy.SignInit)
		r.proxy.FlipBit(-1)
		r.proxy.Insert()
		mustProve(t, r.signer, "after "+name)
	}
}

// TestProofPINRefusedLater: after the PIN was changed on the token, the old one is tried once,
// so that the token does not lock itself.
func TestProofPINRefusedLater(t *testing.T) {
	r := newProofRig(t)
	before := r.proxy.Logins()
	r.proxy.KillSessions(1)
	r.proxy.RefusePIN(100)
	for range 3 {
		if signature, err := r.sign(); !errors.Is(err, pkcs11.ErrPIN) || signature != nil {
			t.Errorf("with another PIN: %x, %v, want ErrPIN", signature, err)
		}
	}
	if tried := r.proxy.Logins() - before; tried != 1 {
		t.Errorf("the PIN was tried %d times, want once", tried)
	}
}

// TestProofKeyChanged: a verifier with the first public key would refuse the proofs of another
// one.
func TestProofKeyChanged(t *testing.T) {
	r := newProofRig(t)
	b := openBare(t, r.token)
	rename := func(from, to string) {
		for _, class := range []uint{miekg.CKO_PRIVATE_KEY, miekg.CKO_PUBLIC_KEY} {
			object := b.one(t, class, from)
			b.set(t, object, miekg.CKA_LABEL, to)
		}
	}
	first := r.signer.Public().(*ecdsa.PublicKey)
	rename("proof", "first")
	second := generateProofKey(t, r.uri, r.token)
	for range 2 {
		r.proxy.Break(1)
		if signature, err := r.sign(); err == nil || signature != nil || !strings.Contains(err.Error(), "has changed: restart if that is intended") {
			t.Errorf("%x, %v, want that the key has changed", signature, err)
		}
		r.proxy.Break(0)
	}
	mustProve(t, second, "the other one")
	rename("proof", "second")
	rename("first", "proof")
	mustProve(t, r.signer, "with the first one back")
	if !first.Equal(r.signer.Public()) {
		t.Error("the public key has changed")
	}
}

// TestPlantedProofKey: public objects with the CKA_ID of the proof key, which take no PIN to
// create, change nothing about the key that is opened.
func TestPlantedProofKey(t *testing.T) {
	r := newProofRig(t)
	b := openBare(t, r.token)
	p256 := []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07}
	for _, label := range []string{"proof", "another"} {
		planted, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		testenv.Must(t, err)
		point, err := planted.PublicKey.Bytes()
		testenv.Must(t, err)
		b.createPublic(t, label, []byte{1}, p256, append([]byte{0x04, 65}, point...))
	}
	b.createPublic(t, "a point that is none", []byte{1}, p256, []byte{0x04, 1, 0})
	found, err := pkcs11.OpenProofSigner(t.Context(), r.uri, pkcs11.Options{PIN: []byte(r.token.PIN)})
	testenv.Must(t, err)
	if !r.signer.Public().(*ecdsa.PublicKey).Equal(found.Public()) {
		t.Error("opened with a planted public key")
	}
	testenv.Must(t, found.Close())
	for _, object := range b.find(t, miekg.CKO_PUBLIC_KEY, "proof") {
		b.destroy(t, object)
	}
	if _, err := pkcs11.OpenProofSigner(t.Context(), r.uri, pkcs11.Options{PIN: []byte(r.token.PIN)}); !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("with planted public keys alone: %v, want ErrSignatureCheck", err)
	}
}

// TestProofSessions: the proof key uses as many sessions as the URI allows, however many
// callers there are.
func TestProofSessions(t *testing.T) {
	r := newProofRig(t)
	uri := strings.Replace(r.uri, "?", "?countersign-sessions=2&", 1)
	signer, err := pkcs11.OpenProofSigner(t.Context(), uri, pkcs11.Options{PIN: []byte(r.token.PIN)})
	testenv.Must(t, err)
	r.proxy.Hang(true)
	var done sync.WaitGroup
	for range 6 {
		done.Go(func() { mustProve(t, signer, "concurrently") })
	}
	testenv.Await(t, "two signatures hang", func() bool { return r.proxy.Signing() == 2 })
	open := r.proxy.Open()
	r.proxy.Hang(false)
	done.Wait()
	testenv.Must(t, signer.Close())
	if open > 1+1+1+2 {
		t.Errorf("%d sessions are open, want crypto11's of two signers, one of the first and two of the second at most", open)
	}
}
