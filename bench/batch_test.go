package bench

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// batchSize is how many transactions are signed in a row.
const batchSize = 1000

// mixed has what a mixed batch is compared with: the same transactions signed by engines
// with the keys of one chain each, and the bare operations.
type mixed struct {
	engine *countersign.Engine // has all keys
	loads  []*workload.Workload
	alone  []func(i int) // the whole path of one chain
	bare   []func(i int) // its operation on the curve
}

func newMixed(b *testing.B) *mixed {
	b.Helper()
	keys := memory.New()
	m := &mixed{}
	for _, kind := range workload.OnePerChain() {
		w := workload.New(b, kind)
		m.loads = append(m.loads, w)
		m.alone = append(m.alone, w.Whole(b, w.Engine(b, unverified)))
		m.bare = append(m.bare, w.Bare(b, false))
	}
	for number := range workload.Keys {
		for _, scheme := range []workload.Scheme{workload.ECDSA, workload.Ed25519} {
			if _, err := keys.Add(b.Context(), workload.Organization, keystore.NewKey{Curve: scheme.Curve(), Secret: workload.Secret(number)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	m.engine = m.loads[0].Engine(b, countersign.Config{Keystore: keys, ReleaseUnverifiedSignatures: true})
	m.batch(b, 0)
	return m
}

// batch signs a batch in which consecutive transactions are of different chains.
func (m *mixed) batch(b *testing.B, from int) {
	for i := range batchSize {
		w := m.loads[i%len(m.loads)]
		if _, err := m.engine.SignTransaction(b.Context(), workload.Organization, w.Requests[(from+i)%workload.Keys]); err != nil {
			b.Fatal(err)
		}
	}
}

// inTurns alternates between the chains, as a batch does.
func inTurns(each []func(i int)) func(from int) {
	return func(from int) {
		for i := range batchSize {
			each[i%len(each)](from + i)
		}
	}
}

// inRows makes the same calls chain by chain.
func inRows(each []func(i int)) func(from int) {
	return func(from int) {
		for chain, call := range each {
			for i := chain; i < batchSize; i += len(each) {
				call(from + i)
			}
		}
	}
}

// BenchmarkBatch signs a batch of 1,000 transactions of all chains, alternating.
func BenchmarkBatch(b *testing.B) {
	m := newMixed(b)
	measure.Loop(b, func(i int) { m.batch(b, i) })
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batchSize, "ns/item")
}

// BenchmarkBatchRatio measures the cost of an item of that batch relative to the same
// transaction among others of its chain, signed by an engine with only that chain's keys
// (growth-ours), and the same for the bare operations (growth-theirs): two curves and
// three libraries evict one another from the processor's caches in any program.
// growth-ratio is what the engine's batch adds; the target is at most 1.05.
func BenchmarkBatchRatio(b *testing.B) {
	m := newMixed(b)
	measure.Growth(b,
		measure.Sizes{Small: inRows(m.alone), Large: func(i int) { m.batch(b, i) }},
		measure.Sizes{Small: inRows(m.bare), Large: inTurns(m.bare)})
}
