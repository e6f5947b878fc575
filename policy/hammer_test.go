package policy_test

import (
	"errors"
	"math/big"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// hammered has room for 10 of the fixture's transactions, of 123 wei each, and for another
// 122 wei.
const hammered = `schema: countersign.policy/2
assets:
  main: {chain: "eip155:1", token: native}
limits:
  - {name: day, asset: main, max: "0.000000000000001352", window: 24h, per: organization}
rules:
  - {name: payouts, allow: transfer, when: "effect.asset == main", limit: [day]}
  - {name: gas, allow: fee, when: "effect.amount <= ether('0.1')"}
`

const (
	hammerers   = 64
	hammerRoom  = 10
	hammerValue = 123 // wei
)

// TestHammeredLimit has 64 clients send two bodies each to two engines, each body twice at
// the same time and again afterwards. Exactly as many are signed as the limit allows, each
// is charged once, and their answers stay available.
func TestHammeredLimit(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		shared := memory.New(0)
		hammer(t, func() store.Store { return shared })
	})
	t.Run("bolt", func(t *testing.T) {
		opened, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
		testenv.Must(t, err)
		hammer(t, func() store.Store { return opened })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := testenv.Postgres(t).DSN
		hammer(t, func() store.Store {
			opened, err := postgres.Open(t.Context(), dsn)
			testenv.Must(t, err)
			return opened
		})
	})
}

// hammer runs two engines over one store, which open opens for each.
func hammer(t *testing.T, open func() store.Store) {
	t.Helper()
	f := enginetest.New(t, func(config *countersign.Config) {
		config.Policy, config.Store, config.Now = load(t, hammered), open(), time.Now
	})
	first := f.Config.Store
	f.Config.Store = open()
	nodes := []*countersign.Engine{f.Engine, f.Second(t)}
	started := time.Now()
	bodies := make([]countersign.SignedBody, 2*hammerers)
	for i := range bodies {
		bodies[i] = f.APIKey.Sign(f.Body(enginetest.Request{At: started.Add(-time.Duration(i) * time.Second)}))
	}
	for range 2 { // the second time repeats answered and refused bodies
		if signed := sendAll(t, nodes, bodies); signed != hammerRoom {
			t.Errorf("%d bodies are answered with a signature, want %d", signed, hammerRoom)
		}
	}
	if signatures := f.Signing.Signatures.Load(); signatures != hammerRoom {
		t.Errorf("%d signatures, want %d", signatures, hammerRoom)
	}
	counted(t, first)
}

// sendAll sends each body to both nodes at once, and returns how many are answered with a
// signature.
func sendAll(t *testing.T, nodes []*countersign.Engine, bodies []countersign.SignedBody) int {
	t.Helper()
	answered := make([][2]atomic.Bool, len(bodies))
	var all sync.WaitGroup
	for client := range hammerers {
		for again := range 2 {
			all.Go(func() {
				for i := client; i < len(bodies); i += hammerers {
					_, err := nodes[(client+again)%2].Submit(t.Context(), bodies[i])
					if refused, ok := errors.AsType[*activity.Error](err); err != nil && (!ok || refused.Reason != activity.ReasonLimitExceeded) {
						t.Error(err)
					}
					answered[i][again].Store(err == nil)
				}
			})
		}
	}
	all.Wait()
	signed := 0
	for i := range answered {
		if answered[i][0].Load() || answered[i][1].Load() {
			signed++
		}
	}
	return signed
}

// counted checks that the limit has counted exactly the signatures.
func counted(t *testing.T, opened store.Store) {
	t.Helper()
	charge := store.Charge{Limit: "day", Subject: "organization", Window: 24 * time.Hour}
	err := opened.Change(t.Context(), enginetest.Organization, store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		sum, _, err := store.Spent(ledger, charge, time.Now())
		if err == nil && sum.Cmp(big.NewInt(hammerRoom*hammerValue)) != 0 {
			t.Errorf("%s wei are counted for %d signatures of %d", sum, hammerRoom, hammerValue)
		}
		return nil, err
	}))
	testenv.Must(t, err)
}
