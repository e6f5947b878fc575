package countersign_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/postgres"
)

// twoNodes returns two engines over one PostgreSQL database, each with its own
// connection. They share a keystore, so that signatures are counted together.
func twoNodes(t *testing.T) (*enginetest.Fixture, *countersign.Engine) {
	t.Helper()
	stores := twoStores(t)
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Store, c.Now = stores[0], time.Now
	})
	f.Config.Store = stores[1]
	return f, f.Second(t)
}

// twoStores opens one database twice.
func twoStores(t *testing.T) (stores [2]*postgres.Store) {
	t.Helper()
	dsn := testenv.Postgres(t).DSN
	for i := range stores {
		var err error
		stores[i], err = postgres.Open(t.Context(), dsn)
		testenv.Must(t, err)
	}
	return stores
}

// TestTakeover checks that if a node takes the lease and dies, another one waits for the
// lease to expire and does the work.
func TestTakeover(t *testing.T) {
	f, second := twoNodes(t)
	body := f.Body(enginetest.Request{At: time.Now()})
	sent := f.APIKey.Sign(body)
	dead := f.Config.Store // all that can be seen of what the dead node did
	record, err := second.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{At: time.Now().Add(-time.Minute)})))
	testenv.Must(t, err)
	claim := store.Claim{OrganizationID: enginetest.Organization, Fingerprint: fingerprint(body), LeaseTTL: 2 * time.Second, Now: time.Now()}
	started := time.Now()
	begun, err := dead.Begin(t.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		t.Fatalf("%+v, %v", begun, err)
	}
	taken, err := f.Engine.Submit(t.Context(), sent)
	if err != nil || taken.ID == record.ID || signedOf(t, taken) != enginetest.Signed {
		t.Fatalf("taken over: %v", err)
	}
	if waited := time.Since(started); waited < claim.LeaseTTL/2 {
		t.Errorf("taken over after %v", waited)
	}
	late := store.Activity{ID: record.ID, OrganizationID: enginetest.Organization, Fingerprint: begun.Lease.Fingerprint, Data: []byte("{}")}
	if err := dead.Complete(t.Context(), *begun.Lease, late, nil); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("the dead one comes back and completes: %v", err)
	}
}

func fingerprint(body string) [32]byte { return sha256.Sum256([]byte(body)) }

// TestSubmitAfterReopen checks that a file that was closed and opened again has the same
// answer, and that a store that forgets nothing checks no liveness.
func TestSubmitAfterReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var first []byte
	var sent countersign.SignedBody
	var signer *enginetest.Fixture
	for round := range 2 {
		opened, err := bolt.Open(path)
		testenv.Must(t, err)
		f := enginetest.New(t, func(c *countersign.Config) {
			c.Store, c.AnyRequestTime = opened, true
			if signer != nil {
				c.Directory = signer.Config.Directory
			}
		})
		if round == 0 {
			signer = f
			sent = f.APIKey.Sign(f.Body(enginetest.Request{At: time.UnixMilli(1)}))
		}
		record := enginetest.MustSubmit(t, f.Engine, sent)
		if answer := record.AppendAnswer(nil); round == 0 {
			first = answer
		} else if !bytes.Equal(answer, first) || f.Signing.Signatures.Load() != 0 {
			t.Errorf("answered\n%s\nand before\n%s", answer, first)
		}
		testenv.Must(t, f.Engine.Close())
	}
}
