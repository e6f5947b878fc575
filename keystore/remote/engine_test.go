package remote_test

import (
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
	storememory "github.com/countersign-dev/countersign/store/memory"
)

// TestLeaseIsRenewed: while a service takes longer to sign than a lease lives, the node renews
// it. Another node that gets the same request waits for the answer, and nothing is signed twice.
func TestLeaseIsRenewed(t *testing.T) {
	const lease = 2 * time.Second
	keys := remotetest.NewKeys()
	keys.Generate("hot", remote.Secp256k1)
	public := keys.Public("hot").Signing
	open := func() keystore.Keystore {
		store, err := remote.Open(t.Context(), remote.Services{"fake": fake{keys, remotetest.DER}}, []remote.Pin{
			{URI: "fake:hot", PublicKey: public, OrganizationID: enginetest.Organization},
		}, remote.Options{})
		testenv.Must(t, err)
		return store
	}
	f := enginetest.New(t, func(c *countersign.Config) {
		_ = c.Keystore.Close()
		c.Keystore, c.Store, c.Now, c.LeaseTTL = open(), storememory.New(1<<20), time.Now, lease
	})
	f.Config.Keystore = open()
	second := f.Second(t)
	keys.SetDelay(2 * lease)
	request := f.APIKey.Sign(f.Body(enginetest.Request{SignWith: remote.IDOf(public), At: time.Now()}))
	answers := make(chan activity.Result, 2)
	submit := func(engine *countersign.Engine) {
		record, err := engine.Submit(t.Context(), request)
		if err != nil {
			t.Error(err)
			answers <- nil
			return
		}
		answers <- record.Result
	}
	go submit(f.Engine)
	testenv.Await(t, "the service has been asked", func() bool { return keys.Signed() > 0 })
	go submit(second)
	if first, other := <-answers, <-answers; first == nil || first != other {
		t.Errorf("answers %v and %v", first, other)
	}
	if signed := keys.Signed(); signed != 1 {
		t.Errorf("%d signatures were made", signed)
	}
}
