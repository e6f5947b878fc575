package gcpkms_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/kms/apiv1/kmspb"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/kms/gcpkms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

func uri(name string) string {
	return "gcpkms:" + loopback.Ring + "/cryptoKeys/" + name + "/cryptoKeyVersions/1"
}

func TestService(t *testing.T) {
	g := loopback.NewGoogle(t)
	remotetest.Run(t, remotetest.Harness{
		Scheme: gcpkms.Scheme, Service: gcpkms.New(g.Options()...), Keys: g.Keys, URI: uri,
		Curves:    []remote.Scheme{remote.Secp256k1, remote.Ed25519},
		SignRight: "cloudkms.cryptoKeyVersions.useToSign", PublicKeyRight: "cloudkms.cryptoKeyVersions.viewPublicKey",
	})
}

func TestURIs(t *testing.T) {
	for _, text := range []string{
		"gcpkms:" + loopback.Ring + "/cryptoKeys/hot", "gcpkms:" + loopback.Ring + "/cryptoKeys/hot/cryptoKeyVersions/primary",
		uri("hot") + "0/x", uri("a/b"), "gcpkms:projects/p/keys/hot", strings.TrimSuffix(uri("hot"), "1") + "0",
	} {
		if err := gcpkms.New().Check(text); err == nil || !strings.Contains(err.Error(), "a version, because a key has several") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := gcpkms.New().Check(uri("hot") + "?credentials=x"); err == nil {
		t.Error("a parameter")
	}
}

// TestDamaged: an answer whose checksum or name is wrong, or to something that the service has
// not checked, is not taken.
func TestDamaged(t *testing.T) {
	g := loopback.NewGoogle(t)
	service := gcpkms.New(g.Options()...)
	for _, scheme := range []remote.Scheme{remote.Secp256k1, remote.Ed25519} {
		g.Keys.Generate("hot", scheme)
		key, err := service.Open(t.Context(), uri("hot"))
		testenv.Must(t, err)
		for want, change := range map[string]func(*kmspb.AsymmetricSignResponse){
			"signed with":             func(r *kmspb.AsymmetricSignResponse) { r.Name = strings.TrimSuffix(r.Name, "1") + "2" },
			"did not verify":          func(r *kmspb.AsymmetricSignResponse) { r.VerifiedDataCrc32C, r.VerifiedDigestCrc32C = false, false },
			"damaged on its way":      func(r *kmspb.AsymmetricSignResponse) { r.Signature[5] ^= 1 },
			"was damaged on its way ": func(r *kmspb.AsymmetricSignResponse) { r.SignatureCrc32C = nil },
		} {
			g.ChangeSignatures(change)
			if _, err := key.Sign(t.Context(), scheme, make([]byte, 32)); !errors.Is(err, keystore.ErrSignatureCheck) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", scheme, err, want)
			}
		}
		g.ChangeSignatures(nil)
		for _, change := range []func(*kmspb.PublicKey){
			func(p *kmspb.PublicKey) { p.Name = "" },
			func(p *kmspb.PublicKey) { p.PemCrc32C = nil },
			func(p *kmspb.PublicKey) { p.Pem += "\n" },
		} {
			g.ChangePublicKeys(change)
			if public, err := key.PublicKey(t.Context()); !errors.Is(err, keystore.ErrUnavailable) {
				t.Errorf("%v, %v", public, err)
			}
		}
		g.ChangePublicKeys(nil)
	}
}

// TestSites: keys of one location share a bound, and no others.
func TestSites(t *testing.T) {
	service := gcpkms.New()
	for same, uris := range map[bool][]string{
		true:  {uri("cold"), strings.Replace(uri("hot"), "keyRings/r/", "keyRings/s/", 1)},
		false: {strings.Replace(uri("hot"), "europe-west1", "us-east1", 1), strings.Replace(uri("hot"), "projects/p/", "projects/q/", 1)},
	} {
		for _, other := range uris {
			if (service.Site(other) == service.Site(uri("hot"))) != same {
				t.Errorf("%s: %q", other, service.Site(other))
			}
		}
	}
}

// TestThrottled: the wait is the one that the answer says.
func TestThrottled(t *testing.T) {
	g := loopback.NewGoogle(t)
	g.Keys.SetFault(keystoretest.Throttled)
	key, err := gcpkms.New(g.Options()...).Open(t.Context(), uri("hot"))
	testenv.Must(t, err)
	_, err = key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
	if throttled, ok := errors.AsType[*keystore.ThrottledError](err); !ok || throttled.RetryAfter != 7*time.Second {
		t.Errorf("%v", err)
	}
}

func TestGenerate(t *testing.T) {
	g := loopback.NewGoogle(t)
	service := gcpkms.New(g.Options()...)
	for _, scheme := range []remote.Scheme{remote.Secp256k1, remote.Ed25519, remote.P256} {
		name := "new-" + strings.ToLower(string(scheme))
		if created, err := service.Generate(t.Context(), uri(name), "name", scheme); err != nil || created != uri(name) {
			t.Fatalf("%s, %v", created, err)
		}
		if made, ok := g.Keys.Scheme(name); !ok || made != scheme {
			t.Errorf("made %s, want %s", made, scheme)
		}
		if _, err := service.Generate(t.Context(), uri(name), "name", scheme); !errors.Is(err, keystore.ErrKeyExists) {
			t.Errorf("again: %v", err)
		}
	}
}
