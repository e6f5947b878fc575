package remote_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// exampleService is a key service with one key. A real one asks over the network.
type exampleService struct{ key ed25519.PrivateKey }

func (exampleService) Check(uri string) error {
	if !strings.HasPrefix(uri, "example:") {
		return fmt.Errorf("%q does not begin with example:", uri)
	}
	return nil
}

func (s exampleService) Open(context.Context, string) (remote.Key, error) { return exampleKey(s), nil }

type exampleKey exampleService

func (k exampleKey) PublicKey(context.Context) (remote.Public, error) {
	return remote.ParsePoint(remote.Ed25519, k.key.Public().(ed25519.PublicKey))
}

func (k exampleKey) Sign(_ context.Context, scheme remote.Scheme, message []byte) ([]byte, error) {
	if scheme != remote.Ed25519 {
		return nil, fmt.Errorf("%w: %s", keystore.ErrUnsupported, scheme)
	}
	return ed25519.Sign(k.key, message), nil
}

// A key of a service is pinned with its public key: a service that answers with another is refused.
func ExampleOpen() {
	ctx := context.Background()
	service := exampleService{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	public, err := exampleKey(service).PublicKey(ctx)
	if err != nil {
		log.Fatal(err)
	}
	keys, err := remote.Open(ctx, remote.Services{"example": service}, []remote.Pin{
		{URI: "example:treasury", PublicKey: public.Signing, OrganizationID: "my-organization", Name: "treasury"},
	}, remote.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()
	key, err := keys.Find(ctx, "my-organization", keystore.ByID(remote.IDOf(public.Signing)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keystore.InfoOf(key).Name, key.PublicKey().Curve())
	// Output: treasury CURVE_ED25519
}
