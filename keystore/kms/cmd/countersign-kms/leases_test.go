package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/kms/awskms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/store"
	storememory "github.com/countersign-dev/countersign/store/memory"
)

// renewals is a store that counts the leases that were renewed.
type renewals struct {
	store.Store
	mu      sync.Mutex
	renewed map[store.Fingerprint]bool
	all     int
	done    chan struct{} // closed when all were
}

func (r *renewals) Renew(ctx context.Context, lease store.Lease, ttl time.Duration, now time.Time) (store.Lease, error) {
	held, err := r.Store.Renew(ctx, lease, ttl, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := len(r.renewed); err == nil {
		if r.renewed[lease.Fingerprint] = true; len(r.renewed) == r.all && before < r.all {
			close(r.done)
		}
	}
	return held, err
}

// TestClientsWaitWithLeases has 64 clients sign over HTTP while the service does not answer before
// the lease of each request was renewed. Each gets its signature, and the service makes no more
// than these.
func TestClientsWaitWithLeases(t *testing.T) {
	const clients = 64
	aws := loopback.NewAWS(t)
	loopback.Use(t, aws)
	aws.Keys.Generate("hot", remote.Secp256k1)
	public := aws.Keys.Public("hot").Signing
	leases := &renewals{Store: storememory.New(1 << 20), renewed: map[store.Fingerprint]bool{}, all: clients, done: make(chan struct{})}
	keys, err := remote.Open(t.Context(), remote.Services{awskms.Scheme: awskms.New()}, []remote.Pin{
		{URI: "awskms:hot?region=eu-central-1", PublicKey: public, OrganizationID: enginetest.Organization},
	}, remote.Options{Timeout: time.Hour})
	testenv.Must(t, err)
	f := enginetest.New(t, func(c *countersign.Config) {
		_ = c.Keystore.Close()
		c.Keystore, c.Store, c.Now, c.LeaseTTL = keys, leases, time.Now, time.Second
	})
	server := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{Timeout: time.Hour}))
	defer server.Close()
	to := leaseClient(t, server.URL, f.APIKey)

	aws.Keys.SetFault(keystoretest.Slow)
	var waiting sync.WaitGroup
	for i := range clients {
		waiting.Go(func() {
			if _, err := to.SignTransaction(t.Context(), activity.SignTransactionIntent{
				SignWith: remote.IDOf(public), UnsignedTransaction: unsigned(uint16(0x0300 + i)), Type: activity.TransactionTypeEthereum,
			}); err != nil {
				t.Error(err)
			}
		})
	}
	select {
	case <-leases.done:
	case <-time.After(5 * time.Minute):
		t.Error("not every lease was renewed")
	}
	if signed := aws.Keys.Signed(); signed != 0 {
		t.Errorf("%d signatures were made while the service did not answer", signed)
	}
	aws.Keys.SetFault(keystoretest.NoFault)
	waiting.Wait()
	if signed := aws.Keys.Signed(); signed != clients {
		t.Errorf("%d signatures were made for %d clients", signed, clients)
	}
}

// leaseClient returns a client that waits long and sends nothing twice.
func leaseClient(t *testing.T, url string, apiKey *enginetest.APIKey) *client.Client {
	t.Helper()
	key, err := client.ParseKey(fmt.Appendf(nil, `{"organizationId":%q,"publicKey":%q,"privateKey":%q,"curve":"API_KEY_CURVE_P256"}`,
		enginetest.Organization, apiKey.PublicKey, apiKey.PrivateKey()))
	testenv.Must(t, err)
	to, err := client.New(client.Config{URL: url, Key: key, HTTP: &http.Client{Timeout: time.Hour}, Retries: -1})
	testenv.Must(t, err)
	return to
}
