package bench

import (
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// BenchmarkParts measures each part of the path by itself. "hash" is Sign up to the call
// of the key, "hash+splice" is Sign with a key that has its signature ready, "sign" is
// the key alone, and "verify" is what keystore.Verified adds to it.
func BenchmarkParts(b *testing.B) {
	for _, kind := range workload.OnePerChain() {
		b.Run(kind.Name(), func(b *testing.B) {
			w := workload.New(b, kind)
			for _, part := range parts(b, w) {
				b.Run(part.name, func(b *testing.B) {
					measure.Loop(b, func(i int) {
						if err := part.run(i % workload.Keys); err != nil {
							b.Fatal(err)
						}
					})
				})
			}
		})
	}
}

type part struct {
	name string
	run  func(i int) error
}

func parts(b *testing.B, w *workload.Workload) []part {
	chain, ctx := workload.Chain(w.Chain), b.Context()
	transactions, requests := make([]chains.Transaction, workload.Keys), make([]chains.Request, workload.Keys)
	keys, canned, verified := make([]keystore.Key, workload.Keys), make([]chains.Signing, workload.Keys), make([]chains.Signing, workload.Keys)
	refusing, ready := make([]chains.Signing, workload.Keys), make([]chains.Signing, workload.Keys)
	locators := make([]keystore.Locator, workload.Keys)
	for i := range transactions {
		var err error
		transactions[i], keys[i], locators[i] = w.Parse(b, i), w.Key(b, i), w.Locator(i)
		if requests[i], err = transactions[i].Request(w.Requests[i].SignWith); err != nil {
			b.Fatal(err)
		}
		recorded := &cannedKey{Key: keys[i]}
		if _, err := w.Ready(b, i, recordingKey{recorded, keys[i]}).AppendSigned(ctx, nil); err != nil {
			b.Fatal(err)
		}
		canned[i], verified[i] = w.Ready(b, i, recorded), w.Ready(b, i, keystore.Verified(recorded.only(w.Scheme)))
		refusing[i], ready[i] = w.Ready(b, i, refusingKey{keys[i]}), w.Ready(b, i, keys[i])
	}
	sign := w.Handle(b)
	signing := func(signings []chains.Signing) func(i int) error {
		return func(i int) error {
			_, err := signings[i].AppendSigned(ctx, nil)
			return err
		}
	}
	return []part{
		{"hex", func(i int) error { _, err := chains.DecodeHex(w.Requests[i].UnsignedTransaction); return err }},
		{"parse", func(i int) error { _, err := chain.Parse(w.Raw[i]); return err }},
		{"signWith", func(i int) error { _, err := transactions[i].Request(w.Requests[i].SignWith); return err }},
		{"find", func(i int) error { _, err := w.Store.Find(ctx, workload.Organization, locators[i]); return err }},
		{"check", func(i int) error { _, err := requests[i].With(keys[i]); return err }},
		{"hazards", func(i int) error { ready[i].Hazards(); return nil }},
		{"hash", func(i int) error {
			_, err := refusing[i].AppendSigned(ctx, nil)
			return expect(err, errRefused)
		}},
		{"hash+splice", signing(canned)},
		{"sign", func(i int) error { sign(i); return nil }},
		{"hash+verify+splice", signing(verified)},
		{"hash+sign+splice", signing(ready)},
		{"summary", func(i int) error { transactions[i].Summary(); return nil }},
		{"digest", func(i int) error { transactions[i].Summary().Digest(); return nil }},
	}
}
