package vaulttransit_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/kms/vaulttransit"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

func newServer(t *testing.T) *loopback.Vault {
	t.Helper()
	v := loopback.NewVault(t)
	loopback.Use(t, v)
	t.Setenv("HOME", t.TempDir())
	return v
}

func TestService(t *testing.T) {
	v := newServer(t)
	remotetest.Run(t, remotetest.Harness{
		Scheme: vaulttransit.Scheme, Service: vaulttransit.New(), Keys: v.Keys, URI: func(name string) string { return "vaulttransit:" + name + "?version=1" },
		Curves: []remote.Scheme{remote.Ed25519}, SignRight: "update on transit/sign/", PublicKeyRight: "read on transit/keys/",
	})
}

func TestURIs(t *testing.T) {
	service := vaulttransit.New()
	for uri, want := range map[string]string{
		"vaulttransit:sol":                       "add ?version=NUMBER",
		"vaulttransit:sol?version=0":             "add ?version=NUMBER",
		"vaulttransit:sol?version=latest":        "add ?version=NUMBER",
		"vaulttransit:../sys/seal?version=1":     "write vaulttransit:NAME",
		"vaulttransit:a//b?version=1":            "write vaulttransit:NAME",
		"vaulttransit:a%2e%2e?version=1":         "write vaulttransit:NAME",
		"vaulttransit:sol?version=1&token=hvs.x": `unknown parameter "token"`,
	} {
		if err := service.Check(uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", uri, err, want)
		}
	}
}

// TestVersions: a pinned version signs after a rotation, at whatever mount and namespace, and a
// signature of another version is not taken.
func TestVersions(t *testing.T) {
	v := newServer(t)
	service := vaulttransit.New()
	v.Keys.Generate("sol", remote.Ed25519)
	v.Keys.Generate("sol-v2", remote.Ed25519)
	for version, name := range map[string]string{"1": "sol", "2": "sol-v2"} {
		key, err := service.Open(t.Context(), "vaulttransit:team/transit/sol?namespace=payments&version="+version)
		testenv.Must(t, err)
		public, err := key.PublicKey(t.Context())
		if err != nil || public != v.Keys.Public(name) {
			t.Errorf("version %s: %v, %v", version, public, err)
		}
		if signature, err := key.Sign(t.Context(), remote.Ed25519, []byte("m")); err != nil || len(signature) != 64 {
			t.Errorf("version %s: %x, %v", version, signature, err)
		}
	}
	if seen := v.Seen(); !slices.Contains(seen, "PUT /v1/team/transit/sign/sol payments") {
		t.Errorf("seen %q", seen)
	}
	key, err := service.Open(t.Context(), "vaulttransit:sol?version=3")
	testenv.Must(t, err)
	if _, err := key.PublicKey(t.Context()); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("version 3: %v", err)
	}
	if key, err = service.Open(t.Context(), "vaulttransit:sol?version=1"); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"vault:v2:", "vault:v11:", "x", "vault:v1:!"} {
		v.SetPrefix(prefix)
		if _, err := key.Sign(t.Context(), remote.Ed25519, []byte("m")); !errors.Is(err, keystore.ErrSignatureCheck) {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

// TestNoSecp256k1: the error says that transit does not have the curve, wherever one asks.
func TestNoSecp256k1(t *testing.T) {
	v := newServer(t)
	service := vaulttransit.New()
	v.Keys.Generate("eth", remote.Secp256k1) // as a type that the package does not know
	key, err := service.Open(t.Context(), "vaulttransit:eth?version=1")
	testenv.Must(t, err)
	_, readErr := key.PublicKey(t.Context())
	_, signErr := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
	_, makeErr := service.Generate(t.Context(), "vaulttransit:new?version=1", "", remote.Secp256k1)
	for _, err := range []error{readErr, signErr, makeErr} {
		if !errors.Is(err, keystore.ErrUnsupported) || !strings.Contains(err.Error(), "transit has no secp256k1") {
			t.Errorf("%v", err)
		}
	}
}

// TestGenerate creates a key, and refuses one that exists: Vault would not say so.
func TestGenerate(t *testing.T) {
	v := newServer(t)
	service := vaulttransit.New()
	const uri = "vaulttransit:sol?version=1"
	if created, err := service.Generate(t.Context(), uri, "name", remote.Ed25519); err != nil || created != uri {
		t.Fatalf("%s, %v", created, err)
	}
	if scheme, ok := v.Keys.Scheme("sol"); !ok || scheme != remote.Ed25519 {
		t.Errorf("%v", scheme)
	}
	if _, err := service.Generate(t.Context(), uri, "name", remote.Ed25519); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("again: %v", err)
	}
	if _, err := service.Generate(t.Context(), "vaulttransit:other?version=2", "name", remote.Ed25519); err == nil {
		t.Error("a new key with version 2")
	}
}

// TestToken: the token is the one that 'vault login' wrote if the environment has none, and it
// is renewed when two thirds of its lifetime have passed.
func TestToken(t *testing.T) {
	v := newServer(t)
	t.Setenv("VAULT_TOKEN", "")
	home, err := os.UserHomeDir()
	testenv.Must(t, err)
	v.Keys.Generate("sol", remote.Ed25519)
	open := func() remote.Key {
		key, err := vaulttransit.New().Open(t.Context(), "vaulttransit:sol?version=1")
		testenv.Must(t, err)
		return key
	}
	if _, err := open().PublicKey(t.Context()); !errors.Is(err, keystore.ErrDenied) {
		t.Errorf("without a token: %v", err)
	}
	testenv.Write(t, filepath.Join(home, ".vault-token"), []byte(loopback.Token+"\n"))
	v.SetTTL(1)
	key := open()
	if _, err := key.PublicKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.SetTTL(3600)
	for v.Renewed() == 0 { // at the latest after two thirds of a second
		if _, err := key.PublicKey(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := key.PublicKey(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if v.Renewed() != 1 {
		t.Errorf("renewed %d times: the new lifetime is an hour", v.Renewed())
	}
}

// TestBoundedAnswers: a redirect is not followed, so that no token goes elsewhere, and an answer
// without end is read to a bound. Both are outages.
func TestBoundedAnswers(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			for _, err := w.Write([]byte(`{"data":{"a":"`)); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
		},
	} {
		server := httptest.NewServer(answer)
		t.Setenv("VAULT_ADDR", server.URL)
		t.Setenv("VAULT_TOKEN", "hvs.secret")
		key, err := vaulttransit.New().Open(t.Context(), "vaulttransit:sol?version=1")
		testenv.Must(t, err)
		if _, err := key.PublicKey(t.Context()); !errors.Is(err, keystore.ErrUnavailable) || strings.Contains(err.Error(), "hvs.") {
			t.Errorf("%s: %v", name, err)
		}
		server.CloseClientConnections()
		server.Close()
	}
	if elsewhere.Load() != 0 {
		t.Error("the redirect was followed")
	}
}
