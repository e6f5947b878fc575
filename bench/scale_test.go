package bench

import (
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// manyInputs lets the engine take a thousand inputs, whose fee is high.
var manyInputs = countersign.Config{
	ReleaseUnverifiedSignatures: true,
	Limits:                      countersign.Limits{Bitcoin: bitcoin.Limits{MaxFee: bitcoin.MaxMoney, MaxFeeRate: bitcoin.MaxMoney}},
}

// psbtSigner signs one PSBT with so many inputs, over and over.
func psbtSigner(b *testing.B, name string, inputs int) func(i int) {
	b.Helper()
	w := workload.New(b, workload.Bitcoin(name, 1)) // for its keys
	engine := w.Engine(b, manyInputs)
	kind := workload.Bitcoin(name, inputs)
	intent := activity.SignTransactionIntent{
		SignWith: w.Requests[0].SignWith, Type: activity.TransactionTypeBitcoin,
		UnsignedTransaction: fmt.Sprintf("%x", kind.Transaction(0, w.Public[0])),
	}
	return func(int) {
		if _, err := engine.SignTransaction(b.Context(), workload.Organization, intent); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInputs is the cost of a Bitcoin input among many.
func BenchmarkInputs(b *testing.B) {
	for _, name := range workload.Spends {
		for _, inputs := range []int{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("bitcoin/%s/inputs=%d", name, inputs), func(b *testing.B) {
				measure.Loop(b, psbtSigner(b, name, inputs))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(inputs), "ns/input")
			})
		}
	}
}

// BenchmarkInputsRatio is an input among 1,000 beside one among 10, of the same
// number of inputs in all: at most 1.2 where the midstates are shared (BIP-143,
// BIP-341). What P2PKH signs grows with the inputs (its sighash covers them all).
func BenchmarkInputsRatio(b *testing.B) {
	for _, name := range workload.Spends {
		b.Run("bitcoin/"+name, func(b *testing.B) {
			few := psbtSigner(b, name, 10)
			measure.Pairs(b, 11, measure.Calls(psbtSigner(b, name, 1000)), measure.Calls(func(i int) {
				for range 100 {
					few(i)
				}
			}))
		})
	}
}

// BenchmarkCalldata is the cost of calldata, from 100 bytes to the most that
// nodes relay.
func BenchmarkCalldata(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 8 << 10, 32 << 10, 128<<10 - 512} {
		b.Run(fmt.Sprintf("ethereum/eip1559/bytes=%d", size), func(b *testing.B) {
			w := workload.New(b, workload.Calldata(size))
			b.SetBytes(int64(size))
			measure.Loop(b, w.Whole(b, w.Engine(b, unverified)))
		})
	}
}
