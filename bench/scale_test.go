package bench

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// manyInputs allows the engine to sign a thousand inputs, whose fee is high.
var manyInputs = countersign.Config{
	ReleaseUnverifiedSignatures: true,
	Chains:                      all.Chains(all.Limits{Bitcoin: bitcoin.Limits{MaxFee: bitcoin.MaxMoney, MaxFeeRate: bitcoin.MaxMoney}}),
}

// fewSigner returns a function that signs a few large transactions of a kind in turn, with
// the keys of a workload of the same chain. A thousand of them would take gigabytes.
func fewSigner(b *testing.B, w *workload.Workload, large workload.Kind) func(i int) {
	b.Helper()
	engine := w.Engine(b, manyInputs)
	intents := slices.Clone(w.Requests[:4])
	for i := range intents {
		intents[i].UnsignedTransaction = hex.EncodeToString(large.Transaction(i, w.Public[i]))
	}
	sign := func(i int) {
		if _, err := engine.SignTransaction(b.Context(), workload.Organization, intents[i%len(intents)]); err != nil {
			b.Fatal(err)
		}
	}
	for i := range intents {
		sign(i) // so that what is computed on the first use of a key is not measured
	}
	return sign
}

// BenchmarkInputsRatio measures the cost of an input among 1,000 relative to one among
// 10, for the same total number of inputs: at most 1.2 where the midstates are shared
// (BIP-143, BIP-341). The sighash of P2PKH covers all inputs, so that its cost grows
// with them.
func BenchmarkInputsRatio(b *testing.B) {
	for _, name := range workload.Spends {
		b.Run("bitcoin/"+name, func(b *testing.B) {
			w := workload.New(b, workload.Bitcoin(name, 1))
			one, few := fewSigner(b, w, workload.Bitcoin(name, 1000)), fewSigner(b, w, workload.Bitcoin(name, 10))
			measure.Pairs(b, 3, measure.Calls(one), measure.Calls(func(i int) {
				for range 100 {
					few(i)
				}
			}))
		})
	}
}
