package azurekms_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/azurekms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

func newService(t *testing.T) (*loopback.Azure, *azurekms.Service, func(name string) string) {
	t.Helper()
	a := loopback.NewAzure(t)
	uri := func(name string) string {
		return "azurekms:" + a.Host() + "/keys/" + name + "/" + loopback.AzureVersion
	}
	return a, azurekms.New(azurekms.Options{Credential: a, Transport: a.Client(), AnyDomain: true}), uri
}

func TestService(t *testing.T) {
	a, service, uri := newService(t)
	remotetest.Run(t, remotetest.Harness{
		Scheme: azurekms.Scheme, Service: service, Keys: a.Keys, URI: uri,
		Curves: []remote.Scheme{remote.Secp256k1}, SignRight: "keys/sign", PublicKeyRight: "keys/get",
	})
}

func TestURIs(t *testing.T) {
	_, service, uri := newService(t)
	for text, want := range map[string]string{
		"azurekms:v.vault.azure.net/keys/hot":           "add the version",
		"azurekms:https://v.vault.azure.net/keys/hot/1": "write azurekms:VAULT",
		"azurekms:v.vault.azure.net/secrets/hot/1":      "write azurekms:VAULT",
		"azurekms:user@v.vault.azure.net/keys/hot/1":    "write azurekms:VAULT",
		"azurekms:v.vault.azure.net/keys/hot/../x":      "write azurekms:VAULT",
		uri("hot") + "?client_secret=x":                 "unknown parameter",
	} {
		if err := service.Check(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestTokens: a token is used until it expires, and then replaced: the vault refuses any but the
// last one. One that the vault has revoked is replaced when the vault challenges.
func TestTokens(t *testing.T) {
	a, service, uri := newService(t)
	a.Keys.Generate("hot", remote.Secp256k1)
	key, err := service.Open(t.Context(), uri("hot"))
	testenv.Must(t, err)
	sign := func(when string, tokens int) {
		t.Helper()
		if _, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32)); err != nil || a.Tokens() != tokens {
			t.Errorf("%s: %v; %d tokens were asked for, want %d", when, err, a.Tokens(), tokens)
		}
	}
	a.SetTokenLife(0)
	sign("at first", 1)
	sign("after the first token has expired", 2)
	a.SetTokenLife(time.Hour)
	sign("after the second one has expired", 3)
	sign("with a token that lives", 3)
	a.RevokeToken()
	sign("after it was revoked", 4)
}

// TestOtherKey: a signature that another key or version has made is not taken.
func TestOtherKey(t *testing.T) {
	a, service, uri := newService(t)
	a.Keys.Generate("hot", remote.Secp256k1)
	key, err := service.Open(t.Context(), uri("hot"))
	testenv.Must(t, err)
	for _, kid := range []string{a.URL + "/keys/hot/1", a.URL + "/keys/cold/" + loopback.AzureVersion} {
		a.SetKID(kid)
		if _, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32)); !errors.Is(err, keystore.ErrSignatureCheck) {
			t.Errorf("%s: %v", kid, err)
		}
	}
}

// TestNoEd25519: the error says that vaults do not have the curve, wherever one asks.
func TestNoEd25519(t *testing.T) {
	a, service, uri := newService(t)
	a.Keys.Generate("sol", remote.Ed25519)
	key, err := service.Open(t.Context(), uri("sol"))
	testenv.Must(t, err)
	if _, err := key.PublicKey(t.Context()); !errors.Is(err, keystore.ErrUnsupported) || !strings.Contains(err.Error(), "only P-256K") {
		t.Errorf("%v", err)
	}
	_, signErr := key.Sign(t.Context(), remote.Ed25519, []byte("m"))
	_, makeErr := service.Generate(t.Context(), "azurekms:"+a.Host()+"/keys/new", "", remote.Ed25519)
	for _, err := range []error{signErr, makeErr} {
		if !errors.Is(err, keystore.ErrUnsupported) || !strings.Contains(err.Error(), "has no Ed25519") {
			t.Errorf("%v", err)
		}
	}
}

func TestGenerate(t *testing.T) {
	a, service, uri := newService(t)
	for name, scheme := range map[string]remote.Scheme{"eth": remote.Secp256k1, "proof": remote.P256} {
		where := "azurekms:" + a.Host() + "/keys/" + name
		if created, err := service.Generate(t.Context(), where, "name", scheme); err != nil || created != uri(name) {
			t.Fatalf("%s, %v", created, err)
		}
		if made, ok := a.Keys.Scheme(name); !ok || made != scheme {
			t.Errorf("made %s", made)
		}
		if _, err := service.Generate(t.Context(), where, "name", scheme); !errors.Is(err, keystore.ErrKeyExists) {
			t.Errorf("again: %v", err)
		}
	}
	if _, err := service.Generate(t.Context(), uri("new"), "", remote.Secp256k1); err == nil || !strings.Contains(err.Error(), "leave it out") {
		t.Errorf("a version: %v", err)
	}
}
