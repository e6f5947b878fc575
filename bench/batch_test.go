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

// mixed is batches of transactions of all chains, an engine with the keys of all
// of them, and engines that have those of one chain each.
type mixed struct {
	engine *countersign.Engine
	loads  []*workload.Workload
	alone  []func(i int) // the whole path of one chain
}

func newMixed(b *testing.B) *mixed {
	b.Helper()
	keys := memory.New()
	m := &mixed{}
	for _, kind := range workload.OnePerChain() {
		w := workload.New(b, kind)
		m.loads, m.alone = append(m.loads, w), append(m.alone, w.Whole(b, w.Engine(b, unverified)))
	}
	for number := range workload.Keys {
		for _, scheme := range []workload.Scheme{workload.ECDSA, workload.Ed25519} {
			if _, err := keys.Add(workload.Organization, memory.Key{Curve: scheme.Curve(), Secret: workload.Secret(number)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	m.engine = m.loads[0].Engine(b, countersign.Config{Keystore: keys, ReleaseUnverifiedSignatures: true})
	m.batch(b, 0)
	return m
}

// batch signs a batch in which each transaction is of another chain than the one
// before it.
func (m *mixed) batch(b *testing.B, from int) {
	for i := range batchSize {
		w := m.loads[i%len(m.loads)]
		if _, err := m.engine.SignTransaction(b.Context(), workload.Organization, w.Requests[(from+i)%workload.Keys]); err != nil {
			b.Fatal(err)
		}
	}
}

// singly signs the same transactions as if there were no batch: chain by chain,
// by engines that know no other.
func (m *mixed) singly(from int) {
	for chain, sign := range m.alone {
		for i := chain; i < batchSize; i += len(m.alone) {
			sign(from + i)
		}
	}
}

// BenchmarkBatch is a batch of 1,000 transactions of all chains in turns.
func BenchmarkBatch(b *testing.B) {
	m := newMixed(b)
	measure.Loop(b, func(i int) { m.batch(b, i) })
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batchSize, "ns/item")
}

// BenchmarkBatchRatio is an item of that batch beside the same transaction
// signed by itself. At most 1.05 is asked for.
func BenchmarkBatchRatio(b *testing.B) {
	m := newMixed(b)
	measure.Pairs(b, 201, measure.Calls(func(i int) { m.batch(b, i) }), measure.Calls(m.singly))
}
