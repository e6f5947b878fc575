package bench

import (
	"context"
	"testing"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// BenchmarkParts is each part of the path by itself. "hash+splice" is Sign with
// a key that has its signature ready; "verify" is what keystore.Verified adds.
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
	transactions, keys := make([]chains.Transaction, workload.Keys), make([]keystore.Key, workload.Keys)
	canned, echo := make([]keystore.Key, workload.Keys), make([]keystore.Key, workload.Keys)
	for i := range transactions {
		transactions[i], keys[i] = w.Parse(b, i), w.Key(b, i)
		ready := &cannedKey{Key: keys[i]}
		if _, err := transactions[i].Sign(ctx, recordingKey{ready, keys[i]}, w.Requests[i].SignWith); err != nil {
			b.Fatal(err)
		}
		canned[i], echo[i] = ready, keystore.Verified(ready)
	}
	signing := func(keys []keystore.Key) func(i int) error {
		return func(i int) error {
			_, err := transactions[i].Sign(ctx, keys[i], w.Requests[i].SignWith)
			return err
		}
	}
	return []part{
		{"hex", func(i int) error { _, err := chains.DecodeHex(w.Requests[i].UnsignedTransaction); return err }},
		{"parse", func(i int) error { _, err := chain.Parse(w.Raw[i]); return err }},
		{"signWith", func(i int) error { _, err := transactions[i].Signers(w.Requests[i].SignWith); return err }},
		{"find", func(i int) error { _, err := w.Store.Find(ctx, workload.Organization, w.Locator(i)); return err }},
		{"check", func(i int) error { return transactions[i].Check(keys[i], w.Requests[i].SignWith) }},
		{"hazards", func(i int) error { transactions[i].Hazards(w.Public[i]); return nil }},
		{"hash+splice", signing(canned)},
		{"hash+splice+verify", signing(echo)},
		{"hash+sign+splice", signing(keys)},
		{"summary", func(i int) error { transactions[i].Summary(); return nil }},
		{"digest", func(i int) error { transactions[i].Summary().Digest(); return nil }},
	}
}

// cannedKey has its signature ready: what it signs costs nothing on the curve.
type cannedKey struct {
	keystore.Key
	ecdsa [65]byte
	short [64]byte // BIP-340 or Ed25519
}

func (k *cannedKey) SignECDSA(context.Context, [32]byte) ([65]byte, error) { return k.ecdsa, nil }

func (k *cannedKey) SignSchnorr(context.Context, [32]byte, keystore.TaprootTweak) ([64]byte, error) {
	return k.short, nil
}

func (k *cannedKey) SignEd25519(context.Context, []byte) ([64]byte, error) { return k.short, nil }

// recordingKey signs with a real key, and fills the one that has it ready.
type recordingKey struct {
	*cannedKey
	real keystore.Key
}

func (k recordingKey) SignECDSA(ctx context.Context, digest [32]byte) (_ [65]byte, err error) {
	k.ecdsa, err = k.real.(keystore.ECDSASigner).SignECDSA(ctx, digest)
	return k.ecdsa, err
}

func (k recordingKey) SignSchnorr(ctx context.Context, digest [32]byte, tweak keystore.TaprootTweak) (_ [64]byte, err error) {
	k.short, err = k.real.(keystore.SchnorrSigner).SignSchnorr(ctx, digest, tweak)
	return k.short, err
}

func (k recordingKey) SignEd25519(ctx context.Context, message []byte) (_ [64]byte, err error) {
	k.short, err = k.real.(keystore.Ed25519Signer).SignEd25519(ctx, message)
	return k.short, err
}
