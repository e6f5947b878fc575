package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/tempooracle"
)

// newTempoBench makes requests to sign Tempo transactions.
func newTempoBench(b *testing.B, unsigned func(number int) []byte) *ethereumBench {
	b.Helper()
	e := newEthereumBench(b, unsigned)
	for i := range e.requests {
		e.requests[i].Type = activity.TransactionTypeTempo
	}
	return e
}

// tempoOf makes transactions of a kind.
func tempoOf(kind int) func(number int) []byte {
	return func(number int) []byte {
		return tempooracle.Generate(rand.New(rand.NewPCG(10, uint64(number))), kind).Unsigned
	}
}

// tempoTransfer is one transfer of a token, 68 bytes of calldata, whose fee is
// paid in that token.
func tempoTransfer(number int) []byte {
	random := rand.New(rand.NewPCG(11, uint64(number)))
	c := tempooracle.Generate(random, 0)
	input := make([]byte, 68)
	for i := range input {
		input[i] = byte(random.Uint32())
	}
	tx := &tempooracle.Transaction{
		ChainID: 4217, Tip: c.Tx.Tip, Cap: c.Tx.Cap, Gas: 100_000, NonceKey: c.Tx.NonceKey, Nonce: uint64(number),
		Calls:    []tempooracle.Call{{To: c.Tx.Calls[0].To, Value: c.Tx.Calls[0].Value, Input: input}},
		FeeToken: append([]byte{0x20, 0xc0, 11: 0}, input[:8]...), FeePayer: []byte{0x80},
	}
	return tx.Encode()
}

// BenchmarkTempoRatio puts the whole path beside the operation on the curve: at
// most 1.15 is asked for.
func BenchmarkTempoRatio(b *testing.B) {
	e := newTempoBench(b, tempoTransfer)
	b.Run("sign", func(b *testing.B) {
		ratio(b, e.signer(b, e.engine(b, countersign.Config{ReleaseUnverifiedSignatures: true})), e.bare(b))
	})
	b.Run("sign+verify", func(b *testing.B) {
		ratio(b, e.signer(b, e.engine(b, countersign.Config{})), e.bareVerified(b))
	})
	for kind, name := range tempooracle.Kinds {
		if name != "batch" && name != "fee payer signed" {
			continue
		}
		b.Run("sign/"+name, func(b *testing.B) {
			e := newTempoBench(b, tempoOf(kind))
			ratio(b, e.signer(b, e.engine(b, countersign.Config{ReleaseUnverifiedSignatures: true})), e.bare(b))
		})
	}
}

// BenchmarkTempoSignTransaction is the whole path: raw hex in, signed hex out,
// for a transfer and for transactions of each kind.
func BenchmarkTempoSignTransaction(b *testing.B) {
	b.Run("transfer", func(b *testing.B) { tempoPaths(b, newTempoBench(b, tempoTransfer)) })
	for kind, name := range tempooracle.Kinds {
		b.Run(name, func(b *testing.B) { tempoPaths(b, newTempoBench(b, tempoOf(kind))) })
	}
}

func tempoPaths(b *testing.B, e *ethereumBench) {
	b.Run("unverified", func(b *testing.B) {
		loop(b, e.signer(b, e.engine(b, countersign.Config{ReleaseUnverifiedSignatures: true})))
	})
	b.Run("verified", func(b *testing.B) { loop(b, e.signer(b, e.engine(b, countersign.Config{}))) })
}

// BenchmarkTempoCurve is what the paths above are held against.
func BenchmarkTempoCurve(b *testing.B) {
	e := newTempoBench(b, tempoTransfer)
	b.Run("sign", func(b *testing.B) { loop(b, e.bare(b)) })
	b.Run("sign+verify", func(b *testing.B) { loop(b, e.bareVerified(b)) })
}

// BenchmarkTempoParse is the reader by itself, and the summary of what it read.
func BenchmarkTempoParse(b *testing.B) {
	raw := tempoTransfer(0)
	tx, err := tempo.Chain{}.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		loop(b, func(int) { _, err = tempo.Chain{}.Parse(raw) })
		if err != nil {
			b.Fatal(err)
		}
	})
	b.Run("summary", func(b *testing.B) { loop(b, func(int) { tx.Summary() }) })
}
