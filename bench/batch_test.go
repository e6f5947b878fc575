package bench

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// batchSize is how many transactions are signed in a row.
const batchSize = 1000

// mixed is one engine with the keys of all chains, and batches for it.
type mixed struct {
	engine *countersign.Engine
	loads  []*workload.Workload
}

func newMixed(b *testing.B) *mixed {
	b.Helper()
	keys := memory.New()
	m := &mixed{}
	for _, kind := range workload.OnePerChain() {
		m.loads = append(m.loads, workload.New(b, kind))
	}
	for number := range workload.Keys {
		for _, scheme := range []workload.Scheme{workload.ECDSA, workload.Ed25519} {
			if _, err := keys.Add(workload.Organization, memory.Key{Curve: scheme.Curve(), Secret: workload.Secret(number)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	m.engine = m.loads[0].Engine(b, countersign.Config{Keystore: keys, ReleaseUnverifiedSignatures: true})
	return m
}

// sign signs transaction i, the chain of which is given.
func (m *mixed) sign(b *testing.B, chain, i int) {
	if _, err := m.engine.SignTransaction(b.Context(), workload.Organization, m.loads[chain].Requests[i%workload.Keys]); err != nil {
		b.Fatal(err)
	}
}

// alternating signs a batch in which each transaction is of another chain than
// the one before it.
func (m *mixed) alternating(b *testing.B, from int) {
	for i := range batchSize {
		m.sign(b, i%len(m.loads), from+i)
	}
}

// grouped signs the same transactions chain by chain.
func (m *mixed) grouped(b *testing.B, from int) {
	for chain := range m.loads {
		for i := chain; i < batchSize; i += len(m.loads) {
			m.sign(b, chain, from+i)
		}
	}
}

// BenchmarkBatch is a batch of 1,000 transactions of all chains in turns.
func BenchmarkBatch(b *testing.B) {
	m := newMixed(b)
	measure.Loop(b, func(i int) { m.alternating(b, i) })
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batchSize, "ns/item")
}

// BenchmarkBatchRatio is the same batch beside the same transactions chain by
// chain: what it costs that neighbours have nothing in common. At most 1.05 is
// asked for.
func BenchmarkBatchRatio(b *testing.B) {
	m := newMixed(b)
	measure.Pairs(b, 21, measure.Calls(func(i int) { m.alternating(b, i) }), measure.Calls(func(i int) { m.grouped(b, i) }))
}
