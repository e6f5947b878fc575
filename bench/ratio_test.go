package bench

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
)

// unverified is the configuration without verification of signatures.
var unverified = countersign.Config{ReleaseUnverifiedSignatures: true}

// BenchmarkRatio measures the whole path of each kind relative to the bare operation on
// the curve:
//
//	sign         unverified, relative to the library's signature
//	sign+verify  verified, as by default, relative to the library's signature and verification
//	handle       unverified, relative to the signature of the keystore's key handle
//
// Where the keystore signs as the library does, sign and handle are the same.
func BenchmarkRatio(b *testing.B) {
	for _, kind := range workload.Kinds() {
		b.Run(kind.Name(), func(b *testing.B) {
			w := workload.New(b, kind)
			compareBare(b, w)
			b.Run("handle", func(b *testing.B) { measure.Ratio(b, w.Whole(b, w.Engine(b, unverified)), w.Handle(b)) })
		})
	}
}

// BenchmarkRatioUncached is BenchmarkRatio for P2TR with more keys than internal/secp256k1
// caches output keys for.
func BenchmarkRatioUncached(b *testing.B) {
	kind := workload.Bitcoin("P2TR", 1)
	b.Run(kind.Name(), func(b *testing.B) { compareBare(b, workload.NewOf(b, kind, 4*workload.Keys)) })
}

func compareBare(b *testing.B, w *workload.Workload) {
	b.Helper()
	plain, verified := w.Whole(b, w.Engine(b, unverified)), w.Whole(b, w.Engine(b, countersign.Config{}))
	b.Run("sign", func(b *testing.B) { measure.Ratio(b, plain, w.Bare(b, false)) })
	b.Run("sign+verify", func(b *testing.B) { measure.Ratio(b, verified, w.Bare(b, true)) })
}

// BenchmarkGain measures what a second core brings to the whole path relative to what it
// brings to the bare operation; the target is 0.93. On one core it is meaningless.
func BenchmarkGain(b *testing.B) {
	for _, kind := range workload.OnePerChain() {
		b.Run(kind.Name(), func(b *testing.B) {
			w := workload.New(b, kind)
			measure.Gain(b, w.Whole(b, w.Engine(b, unverified)), w.Bare(b, false))
		})
	}
}
