package azurekms_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/kms/azurekms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// oneToken is a credential with a single token, which both vaults accept.
type oneToken azcore.AccessToken

func (o oneToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken(o), nil
}

// TestOneVaultHangs: a vault that does not answer takes all of its places, and none of another's.
func TestOneVaultHangs(t *testing.T) {
	hangs, works := loopback.NewAzure(t), loopback.NewAzure(t)
	var token azcore.AccessToken
	for _, vault := range []*loopback.Azure{hangs, works} {
		token, _ = vault.GetToken(t.Context(), policy.TokenRequestOptions{}) // the first one of each is the same
	}
	service := azurekms.New(azurekms.Options{Credential: oneToken(token), Transport: works.Client(), AnyDomain: true})
	var pins []remote.Pin
	for _, vault := range []*loopback.Azure{hangs, works} {
		vault.Keys.Generate("hot", remote.Secp256k1)
		pins = append(pins, remote.Pin{
			URI: "azurekms:" + vault.Host() + "/keys/hot/" + loopback.AzureVersion, PublicKey: vault.Keys.Public("hot").Signing, OrganizationID: "org",
		})
	}
	const places = 4
	store, err := remote.Open(t.Context(), remote.Services{azurekms.Scheme: service}, pins, remote.Options{Concurrency: places, Timeout: time.Hour})
	testenv.Must(t, err)
	var keys []keystore.ECDSASigner
	for _, pin := range pins {
		key, err := store.Find(t.Context(), "org", keystore.ByID(remote.IDOf(pin.PublicKey)))
		testenv.Must(t, err)
		keys = append(keys, key.(keystore.ECDSASigner))
	}
	hangs.Keys.SetFault(keystoretest.Slow)
	defer hangs.Keys.SetFault(keystoretest.NoFault) // else the server does not end
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 2 * places {
		waiting.Go(func() {
			if _, err := keys[0].SignECDSA(ctx, [32]byte{1}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want the context's error", err)
			}
		})
	}
	testenv.Await(t, "all places of the vault are taken", func() bool { return hangs.Waiting() >= places || t.Failed() })
	for range 2 * places {
		if _, err := keys[1].SignECDSA(t.Context(), [32]byte{1}); err != nil {
			t.Error(err)
		}
	}
	cancel()
	waiting.Wait()
	testenv.Must(t, store.Close())
}

// TestSites: keys of one vault share a bound, whatever the case of its name.
func TestSites(t *testing.T) {
	service := azurekms.New(azurekms.Options{})
	hot := service.Site("azurekms:one.vault.azure.net/keys/hot/1")
	if same := service.Site("azurekms:One.Vault.azure.net/keys/cold/2"); same != hot {
		t.Errorf("%q, %q", hot, same)
	}
	if other := service.Site("azurekms:two.vault.azure.net/keys/hot/1"); other == hot {
		t.Errorf("%q", other)
	}
}
