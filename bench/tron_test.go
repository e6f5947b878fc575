package bench

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// tronVector is a transaction of chains/tron/testdata.
type tronVector struct {
	PrivateKey, Address, UnsignedTransaction, SignedTransaction string
}

func readTronVector(b *testing.B, name string) (tronVector, *memory.Store) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "chains", "tron", "testdata", name))
	if err != nil {
		b.Fatal(err)
	}
	var vector tronVector
	if err := json.Unmarshal(text, &vector); err != nil {
		b.Fatal(err)
	}
	secret, err := hex.DecodeString(strings.TrimPrefix(vector.PrivateKey, "0x"))
	if err != nil {
		b.Fatal(err)
	}
	store := memory.New()
	b.Cleanup(func() { _ = store.Close() })
	if _, err := store.Add("org", memory.Key{ID: "key", Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		b.Fatal(err)
	}
	return vector, store
}

// signTronHex is the whole path, from raw hex in to signed hex out, without
// verifying the signature.
func signTronHex(chain tron.Chain, store *memory.Store, unsigned, signWith string) (string, error) {
	ctx := context.Background()
	raw, err := chains.DecodeHex(unsigned)
	if err != nil {
		return "", err
	}
	tx, err := chain.Parse(raw)
	if err != nil {
		return "", err
	}
	at, err := tx.Signers(signWith)
	if err != nil {
		return "", err
	}
	key, err := store.Find(ctx, "org", at[0])
	if err != nil {
		return "", err
	}
	if err := tx.Check(key, signWith); err != nil {
		return "", err
	}
	if found := tx.Hazards(key.PublicKey()); len(found) > 0 {
		return "", &chains.ParseError{Kind: chains.ErrMalformed, Chain: tron.Name, Problem: found[0].Name}
	}
	signed, err := tx.Sign(ctx, key, signWith)
	return hex.EncodeToString(signed), err
}

func benchmarkTron(b *testing.B, name string, byAddress bool) {
	vector, store := readTronVector(b, name)
	signWith := "key"
	if byAddress {
		signWith = vector.Address
	}
	chain := tron.New(tron.Limits{})
	if got, err := signTronHex(chain, store, vector.UnsignedTransaction, signWith); err != nil || got != vector.SignedTransaction {
		b.Fatalf("%s, %v", got, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := signTronHex(chain, store, vector.UnsignedTransaction, signWith); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTronTransfer(b *testing.B)          { benchmarkTron(b, "trx.json", true) }
func BenchmarkTronTransferByID(b *testing.B)      { benchmarkTron(b, "trx.json", false) }
func BenchmarkTronTRC20Transfer(b *testing.B)     { benchmarkTron(b, "trc20.json", true) }
func BenchmarkTronTRC20TransferByID(b *testing.B) { benchmarkTron(b, "trc20.json", false) }

// BenchmarkTronCurve is the bare curve operation, to compare with.
func BenchmarkTronCurve(b *testing.B) {
	vector, _ := readTronVector(b, "trx.json")
	key, err := crypto.HexToECDSA(strings.TrimPrefix(vector.PrivateKey, "0x"))
	if err != nil {
		b.Fatal(err)
	}
	digest := crypto.Keccak256([]byte("digest"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := crypto.Sign(digest, key); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTronRatio signs in turn with the whole path and with the bare curve
// operation, so that a busy machine slows both, and reports the ratio of the
// fastest rounds of each.
func BenchmarkTronRatio(b *testing.B) {
	for _, name := range []string{"trx.json", "trc20.json"} {
		b.Run(strings.TrimSuffix(name, ".json"), func(b *testing.B) {
			vector, store := readTronVector(b, name)
			key, err := crypto.HexToECDSA(strings.TrimPrefix(vector.PrivateKey, "0x"))
			if err != nil {
				b.Fatal(err)
			}
			digest, chain := crypto.Keccak256([]byte("digest")), tron.New(tron.Limits{})
			curve, whole := time.Hour, time.Hour
			for b.Loop() {
				curve = min(curve, roundOfTron(b, func() error { _, err := crypto.Sign(digest, key); return err }))
				whole = min(whole, roundOfTron(b, func() error {
					_, err := signTronHex(chain, store, vector.UnsignedTransaction, vector.Address)
					return err
				}))
			}
			b.ReportMetric(float64(whole)/float64(curve), "times-curve")
		})
	}
}

// roundOfTron times 50 runs.
func roundOfTron(b *testing.B, run func() error) time.Duration {
	start := time.Now()
	for range 50 {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

func BenchmarkTronParse(b *testing.B) {
	vector, _ := readTronVector(b, "trc20.json")
	raw, err := chains.DecodeHex(vector.UnsignedTransaction)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (tron.Chain{}).Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTronSummary(b *testing.B) {
	vector, _ := readTronVector(b, "trc20.json")
	raw, err := chains.DecodeHex(vector.UnsignedTransaction)
	if err != nil {
		b.Fatal(err)
	}
	tx, err := tron.Chain{}.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		tx.Summary()
	}
}
