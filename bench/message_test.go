package bench

import (
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
)

// BenchmarkMessages measures the whole path of each kind of message relative to the bare
// signature, unverified: JSON or hex in, signature out.
func BenchmarkMessages(b *testing.B) {
	for _, kind := range workload.MessageKinds() {
		b.Run(kind.Name, func(b *testing.B) {
			w := workload.NewMessages(b, kind)
			measure.Ratio(b, w.WholeMessage(b, w.Engine(b, unverified)), w.Bare(b, false))
		})
	}
}
