package bench

import (
	"crypto/ed25519"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/translog"
)

func newLogSigner() *translog.Signer {
	return translog.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
}

// BenchmarkLogRatio measures a request from its body to its answer with the log,
// relative to one without, over each store, by one client, alternating.
func BenchmarkLogRatio(b *testing.B) {
	for _, backend := range stores {
		b.Run(backend.name, func(b *testing.B) {
			key := enginetest.NewAPIKey(b)
			var sides [2]func(i int)
			for side, log := range []bool{true, false} {
				engine, err := submitEngineWith(key.Config(), backend.open(b), func(c *countersign.Config) { c.Log = log })
				if err != nil {
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
