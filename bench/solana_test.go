package bench

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// solanaSizes are the lengths of the transactions, in bytes: a transfer, a swap,
// the most of legacy and v0, the most of v1.
var solanaSizes = []int{215, 300, 812, 1232, 4096}

var solanaSecret = []byte("a secret of 32 bytes for a bench")

// solanaTransaction is an unsigned transaction of so many bytes with one signer:
// v0 while it fits, or else v1. Its length is made up by keys, as far as there
// can be, instructions and data.
func solanaTransaction(b *testing.B, size int) []byte {
	b.Helper()
	var m sdk.Message
	if _, err := m.SetVersion(sdk.MessageVersionV0); err != nil {
		b.Fatal(err)
	}
	m.TransactionConfig = sdk.TransactionConfig{}.WithComputeUnitLimit(200_000).WithLoadedAccountsDataSizeLimit(65536)
	if size > solana.DefaultMaxSize {
		if _, err := m.SetVersion(sdk.MessageVersionV1); err != nil {
			b.Fatal(err)
		}
	}
	m.RecentBlockhash = sdk.Hash{1, 2, 3}
	m.AccountKeys = sdk.PublicKeySlice{sdk.PublicKey(ed25519.NewKeyFromSeed(solanaSecret).Public().(ed25519.PublicKey)), {0xff, 1}, sdk.SystemProgramID}
	m.Header = sdk.MessageHeader{NumRequiredSignatures: 1, NumReadonlyUnsignedAccounts: 1}
	for i := 0; len(m.AccountKeys) < 64 && 220+32*len(m.AccountKeys) < size*3/4; i++ {
		m.AccountKeys = append(m.AccountKeys, sdk.PublicKey{0xee, byte(i)})
	}
	for i := 0; i < size/250; i++ {
		m.Instructions = append(m.Instructions, sdk.CompiledInstruction{ProgramIDIndex: 2, Accounts: []uint16{0, 1}, Data: make([]byte, 12)})
	}
	last := sdk.CompiledInstruction{ProgramIDIndex: 2, Accounts: []uint16{0, 1}}
	m.Instructions = append(m.Instructions, last)
	for {
		raw, err := (&sdk.Transaction{Message: m}).MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		if len(raw) == size {
			return raw
		}
		if len(raw) > size {
			b.Fatalf("%d bytes, of %d", len(raw), size)
		}
		last.Data = append(last.Data, 7)
		m.Instructions[len(m.Instructions)-1] = last
	}
}

func solanaStore(b *testing.B) (store *memory.Store, signWith string) {
	b.Helper()
	store = memory.New()
	b.Cleanup(func() { _ = store.Close() })
	info, err := store.Add("org", memory.Key{Curve: keystore.CurveEd25519, Secret: solanaSecret})
	if err != nil {
		b.Fatal(err)
	}
	return store, solana.Chain{}.Addresses(info.PublicKey)[0].Address
}

// signSolana is the whole path: hex in, hex out.
func signSolana(ctx context.Context, chain chains.Chain, store keystore.Keystore, wrap func(keystore.Key) keystore.Key, signWith, unsigned string) (string, error) {
	raw, err := chains.DecodeHex(unsigned)
	if err != nil {
		return "", err
	}
	tx, err := chain.Parse(raw)
	if err != nil {
		return "", err
	}
	locators, err := tx.Signers(signWith)
	if err != nil {
		return "", err
	}
	key, err := store.Find(ctx, "org", locators[0])
	if err != nil {
		return "", err
	}
	key = wrap(key)
	if err := tx.Check(key, signWith); err != nil {
		return "", err
	}
	if hazards := tx.Hazards(key.PublicKey()); len(hazards) > 0 {
		return "", fmt.Errorf("hazards: %v", hazards)
	}
	signed, err := tx.Sign(ctx, key, signWith)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(signed), nil
}

func benchmarkSolanaPath(b *testing.B, wrap func(keystore.Key) keystore.Key) {
	store, signWith := solanaStore(b)
	chain := chains.Chain(solana.New(solana.Limits{}))
	for _, size := range solanaSizes {
		unsigned := hex.EncodeToString(solanaTransaction(b, size))
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := signSolana(b.Context(), chain, store, wrap, signWith, unsigned); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSolanaSign is the whole path without verification of the signature,
// to be compared with BenchmarkSolanaEd25519 of the same size.
func BenchmarkSolanaSign(b *testing.B) {
	benchmarkSolanaPath(b, func(key keystore.Key) keystore.Key { return key })
}

// BenchmarkSolanaSignVerified is the whole path as the engine goes it by default.
func BenchmarkSolanaSignVerified(b *testing.B) { benchmarkSolanaPath(b, keystore.Verified) }

// BenchmarkSolanaEd25519 is the bare signature over the same message.
func BenchmarkSolanaEd25519(b *testing.B) {
	private := ed25519.NewKeyFromSeed(solanaSecret)
	for _, size := range solanaSizes {
		message := solanaMessage(b, size)
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ed25519.Sign(private, message)
			}
		})
	}
}

func solanaMessage(b *testing.B, size int) []byte {
	b.Helper()
	tx, err := solana.New(solana.Limits{}).Parse(solanaTransaction(b, size))
	if err != nil {
		b.Fatal(err)
	}
	return tx.(*solana.Transaction).Message()
}

// BenchmarkSolanaRatio signs by the whole path and bare in turns, so that both
// meet the same weather, and reports what the one costs in terms of the other.
func BenchmarkSolanaRatio(b *testing.B) {
	store, signWith := solanaStore(b)
	chain := chains.Chain(solana.New(solana.Limits{}))
	private := ed25519.NewKeyFromSeed(solanaSecret)
	plain := func(key keystore.Key) keystore.Key { return key }
	for _, size := range solanaSizes {
		unsigned, message := hex.EncodeToString(solanaTransaction(b, size)), solanaMessage(b, size)
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			var path, bare solanaLaps
			for b.Loop() {
				path.lap(func() { _, _ = signSolana(b.Context(), chain, store, plain, signWith, unsigned) })
				bare.lap(func() { ed25519.Sign(private, message) })
			}
			b.ReportMetric(path.median()/bare.median(), "path/bare")
		})
	}
}

// BenchmarkSolanaParse reads without signing.
func BenchmarkSolanaParse(b *testing.B) {
	chain := solana.New(solana.Limits{})
	for _, size := range solanaSizes {
		raw := solanaTransaction(b, size)
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := chain.Parse(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSolanaSummary builds what a person sees.
func BenchmarkSolanaSummary(b *testing.B) {
	for _, size := range solanaSizes {
		tx, err := solana.New(solana.Limits{}).Parse(solanaTransaction(b, size))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tx.Summary()
			}
		})
	}
}

// solanaLaps keeps the time of each lap: the median of many is not moved by what
// else the machine does.
type solanaLaps struct{ laps []time.Duration }

func (w *solanaLaps) lap(do func()) {
	begin := time.Now()
	do()
	w.laps = append(w.laps, time.Since(begin))
}

func (w *solanaLaps) median() float64 {
	slices.Sort(w.laps)
	return float64(w.laps[len(w.laps)/2])
}
