package bench

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

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

// tempoTransfer is one transfer of a token, whose fee is paid in that token: what
// most transactions of the chain are.
func tempoTransfer(number int) []byte { return tempoTransfers(number, 1).Encode() }

// tempoTransfers makes so many transfers at once.
func tempoTransfers(number, count int) *tempooracle.Transaction {
	random := rand.New(rand.NewPCG(11, uint64(number)))
	token := append([]byte{0x20, 0xc0, 11: 0}, bytesOf(random, 8)...)
	tx := &tempooracle.Transaction{
		ChainID: 4217, Tip: big.NewInt(1e9), Cap: big.NewInt(20e9), Gas: 100_000,
		NonceKey: new(big.Int), Nonce: uint64(number), FeeToken: token, FeePayer: []byte{0x80},
	}
	for range count {
		tx.Calls = append(tx.Calls, tempooracle.Call{To: token, Value: new(big.Int), Input: bytesOf(random, 68)})
	}
	return tx
}

func bytesOf(random *rand.Rand, size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

// tempoSponsored is a transfer whose fee somebody else pays, and has signed for.
func tempoSponsored(number int) []byte {
	tx := tempoTransfers(number, 1)
	payer, err := crypto.ToECDSA(crypto.Keccak256([]byte("payer")))
	if err != nil {
		panic(err)
	}
	tx.FeePayer = tempooracle.SignPayer(payer, tx.PayerHash(common.Address{1}))
	return tx.Encode()
}

// BenchmarkTempoRatio puts the whole path beside the operation on the curve: at
// most 1.15 is asked for.
func BenchmarkTempoRatio(b *testing.B) {
	for _, c := range []struct {
		name     string
		unsigned func(number int) []byte
	}{
		{"transfer", tempoTransfer},
		{"two transfers", func(number int) []byte { return tempoTransfers(number, 2).Encode() }},
		{"sponsored", tempoSponsored},
	} {
		e := newTempoBench(b, c.unsigned)
		b.Run(c.name+"/sign", func(b *testing.B) {
			ratio(b, e.signer(b, e.engine(b, countersign.Config{ReleaseUnverifiedSignatures: true})), e.bare(b))
		})
		b.Run(c.name+"/sign+verify", func(b *testing.B) {
			ratio(b, e.signer(b, e.engine(b, countersign.Config{})), e.bareVerified(b))
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
