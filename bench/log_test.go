package bench

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/translog"
)

func newLogSigner() *translog.Signer {
	return translog.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
}

// BenchmarkLogRatio measures a request from its body to its answer with the log,
// relative to one without, over each store, by one client, alternating.
func BenchmarkLogRatio(b *testing.B) {
	compareEngines(b, func(c *countersign.Config) error { c.Log = true; return nil }, func(*countersign.Config) error { return nil })
}

// BenchmarkPolicyRatio measures a request as serve answers it with a policy of 50 rules, relative
// to one without a policy.
func BenchmarkPolicyRatio(b *testing.B) {
	compareEngines(b, (&spec{Shipped: true, Rules: true}).ship, (&spec{Shipped: true}).ship)
}

// compareEngines compares requests to two engines over each store.
func compareEngines(b *testing.B, changes ...func(*countersign.Config) error) {
	for _, backend := range stores {
		b.Run(backend.name, func(b *testing.B) {
			key := enginetest.NewAPIKey(b)
			var sides [2]func(i int)
			for side, change := range changes {
				var changed error
				engine, err := submitEngineWith(key.Config(), backend.open(b), func(c *countersign.Config) { changed = change(c) })
				if err = cmp.Or(changed, err); err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = engine.Close() })
				sides[side] = submitting(b, key, engine)
			}
			measure.Ratio(b, sides[0], sides[1])
		})
	}
}

// submitting returns a function that submits a new request each time.
func submitting(b *testing.B, key *enginetest.APIKey, engine *countersign.Engine) func(i int) {
	b.Helper()
	sent := newLoad(b, key, 8192) // more than the pairs need
	return func(i int) {
		if _, err := engine.Submit(b.Context(), sent.body(i)); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkHaltRatio measures a request to an engine where ten other keys are halted, relative to one
// without a halt: what is halted is asked under the lock that records the request.
func BenchmarkHaltRatio(b *testing.B) {
	for _, backend := range stores {
		b.Run(backend.name, func(b *testing.B) {
			key := enginetest.NewAPIKey(b)
			config := key.Config()
			config.Activities = []activity.Type{activity.TypeSignTransaction, activity.TypeHalt, activity.TypeResume}
			directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization,
				Resume: access.ResumeConfig{Approvals: 1}, Users: []access.UserConfig{{Name: "bench", APIKeys: []access.APIKeyConfig{config}}}}})
			testenv.Must(b, err)
			var sides [2]func(i int)
			var signing *keys.Store
			for side := range sides {
				engine, err := submitEngineWith(key.Config(), backend.open(b), func(c *countersign.Config) {
					c.Log, c.Directory, signing = true, directory, c.Keystore.(*keys.Store)
				})
				testenv.Must(b, err)
				b.Cleanup(func() { _ = engine.Close() })
				for i := range 10 * (1 - side) {
					other, err := signing.Add(b.Context(), enginetest.Organization, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: workload.Secret(i)})
					testenv.Must(b, err)
					body := fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{"privateKeyId":%q}}`,
						activity.TypeHalt, time.Now().UnixMilli(), enginetest.Organization, other.ID)
					if _, err := engine.Submit(b.Context(), key.Sign(body)); err != nil {
						b.Fatal(err)
					}
				}
				sides[side] = submitting(b, key, engine)
			}
			measure.Ratio(b, sides[0], sides[1])
		})
	}
}
