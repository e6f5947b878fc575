package bench

import (
	"math"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store/memory"
)

// BenchmarkSign measures the whole path of each kind: raw hex in, signed hex out.
func BenchmarkSign(b *testing.B) {
	for _, kind := range workload.Kinds() {
		b.Run(kind.Name(), func(b *testing.B) {
			w := workload.New(b, kind)
			b.Run("unverified", func(b *testing.B) { measure.Loop(b, w.Whole(b, w.Engine(b, unverified))) })
			b.Run("verified", func(b *testing.B) { measure.Loop(b, w.Whole(b, w.Engine(b, countersign.Config{}))) })
		})
	}
}

// BenchmarkCurve measures the bare operations that the paths are compared with.
func BenchmarkCurve(b *testing.B) {
	for name, kind := range map[string]string{"secp256k1": "ethereum/eip1559", "bip340": "bitcoin/P2TR", "ed25519": "solana/215"} {
		b.Run(name, func(b *testing.B) {
			w := workload.New(b, workload.Find(kind))
			b.Run("sign", func(b *testing.B) { measure.Loop(b, w.Bare(b, false)) })
			b.Run("sign+verify", func(b *testing.B) { measure.Loop(b, w.Bare(b, true)) })
			b.Run("handle", func(b *testing.B) { measure.Loop(b, w.Handle(b)) })
		})
	}
}

// BenchmarkParallel measures the whole path from all cores at once, and stamped requests over a
// store in memory: run it with -cpu 1,2. [BenchmarkGain] compares it with the bare operation.
func BenchmarkParallel(b *testing.B) {
	for _, kind := range workload.OnePerChain() {
		b.Run(kind.Name(), func(b *testing.B) {
			w := workload.New(b, kind)
			measure.Parallel(b, w.Whole(b, w.Engine(b, countersign.Config{})))
		})
	}
	b.Run("submit", func(b *testing.B) {
		key := enginetest.NewAPIKey(b)
		engine := newSubmitEngine(b, key, memory.New(math.MaxInt))
		measure.Parallel(b, submitter(b, engine, newLoad(b, key, b.N)))
	})
}
