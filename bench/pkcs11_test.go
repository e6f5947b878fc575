//go:build cgo

package bench

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// hsmPairs is the number of interleaved pairs of which an HSM's ratio is the median, and
// hsmBatch is how long each side of a pair runs.
const (
	hsmPairs = 15
	hsmBatch = 200 * time.Millisecond
)

// pace is the number of calls per second, and the processor time of each in
// microseconds, which depends less on the machine's other load.
type pace struct{ perSecond, processor float64 }

// measured lets workers make calls for the duration of hsmBatch.
func measured(b *testing.B, workers int, call func(worker int) error) pace {
	b.Helper()
	var calls atomic.Int64
	var done sync.WaitGroup
	start, used := time.Now(), testenv.OwnTime(b)
	for worker := range workers {
		done.Go(func() {
			for time.Since(start) < hsmBatch {
				if err := call(worker); err != nil {
					b.Error(err)
					return
				}
				calls.Add(1)
			}
		})
	}
	done.Wait()
	count := float64(calls.Load())
	return pace{count / time.Since(start).Seconds(), float64((testenv.OwnTime(b) - used).Microseconds()) / count}
}

// comparePaces reports the calls per second of ours and of theirs, and the medians, over
// interleaved pairs, of the ratios of both and of their processor times.
func comparePaces(b *testing.B, ours, theirs func() pace) {
	b.Helper()
	var ratios, processor, ourRates, theirRates []float64
	for range hsmPairs {
		our, their := ours(), theirs()
		ourRates, theirRates = append(ourRates, our.perSecond), append(theirRates, their.perSecond)
		ratios, processor = append(ratios, our.perSecond/their.perSecond), append(processor, our.processor/their.processor)
	}
	b.ReportMetric(0, "ns/op")
	for unit, values := range map[string][]float64{"ratio": ratios, "cpu-ratio": processor, "ours/s": ourRates, "theirs/s": theirRates} {
		slices.Sort(values)
		b.ReportMetric(values[hsmPairs/2], unit)
	}
}

func openHSM(b *testing.B, token testenv.Token, module string, sessions int) *pkcs11.Store {
	b.Helper()
	store, err := pkcs11.Open(b.Context(), token.URI(module), pkcs11.Options{PIN: []byte(token.PIN), Sessions: sessions})
	testenv.Must(b, err)
	b.Cleanup(func() { _ = store.Close() })
	return store
}

func hsmKey(b *testing.B, store *pkcs11.Store, curve keystore.Curve) keystore.Key {
	b.Helper()
	info, err := store.Generate(b.Context(), "org", curve.String(), curve)
	testenv.Must(b, err)
	key, err := store.Find(b.Context(), "org", keystore.ByID(info.ID))
	testenv.Must(b, err)
	return key
}

// hsmSign returns a function that signs a new digest, with the worker's own context.
func hsmSign(b *testing.B, key keystore.Key, contexts []context.Context) func(worker int) error {
	b.Helper()
	var next atomic.Uint64
	return func(worker int) (err error) {
		digest := hsmDigest(next.Add(1))
		if signer, ok := key.(keystore.ECDSASigner); ok {
			_, err = signer.SignECDSA(contexts[worker], digest)
			return err
		}
		_, err = key.(keystore.Ed25519Signer).SignEd25519(contexts[worker], digest[:])
		return err
	}
}

// patient returns contexts that cannot be cancelled.
func patient(workers int) []context.Context {
	return slices.Repeat([]context.Context{context.Background()}, workers)
}

// leaving returns cancellable contexts, such as that of a server's request: the keystore
// must be able to let the caller go while the HSM hangs, which costs two switches of
// goroutines.
func leaving(b *testing.B, workers int) []context.Context {
	b.Helper()
	contexts := make([]context.Context, workers)
	for i := range contexts {
		ctx, cancel := context.WithCancel(b.Context())
		b.Cleanup(cancel)
		contexts[i] = ctx
	}
	return contexts
}

func hsmDigest(number uint64) (digest [32]byte) {
	for i := range digest {
		digest[i] = byte(number >> (i % 8 * 8))
	}
	return digest
}

// BenchmarkPKCS11ECDSA measures the keystore relative to a bare loop over as many
// sessions of miekg/pkcs11, each in one goroutine, that signs and verifies in the same
// way and does nothing else: no pool, no context, no recovery from failures. The target
// is 0.9 of its throughput. Callers that are "patient" have contexts that cannot be
// cancelled, as the loop has; those that are "leaving" have cancellable ones.
func BenchmarkPKCS11ECDSA(b *testing.B) { compareBareLoop(b, keystore.CurveSecp256k1) }

func compareBareLoop(b *testing.B, curve keystore.Curve) {
	for _, sessions := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			token := testenv.SoftHSM(b)
			key := hsmKey(b, openHSM(b, token, "", sessions), curve)
			bare := bareLoop(b, token, key, sessions)
			for _, callers := range []struct {
				name     string
				contexts []context.Context
			}{{"patient", patient(sessions)}, {"leaving", leaving(b, sessions)}} {
				sign := hsmSign(b, key, callers.contexts)
				b.Run(callers.name, func(b *testing.B) {
					comparePaces(b,
						func() pace { return measured(b, sessions, sign) },
						func() pace { return measured(b, sessions, bare) })
				})
			}
		})
	}
}

// bareLoop signs with one session for each worker, under the login of the Store.
func bareLoop(b *testing.B, token testenv.Token, key keystore.Key, workers int) func(worker int) error {
	b.Helper()
	module := miekg.New(token.Module)
	if err := module.Initialize(); err != miekg.Error(miekg.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		b.Fatal(err)
	}
	slots, err := module.GetSlotList(true)
	testenv.Must(b, err)
	sessions := make([]miekg.SessionHandle, workers)
	for i := range sessions {
		if sessions[i], err = module.OpenSession(slots[0], miekg.CKF_SERIAL_SESSION); err != nil {
			b.Fatal(err)
		}
	}
	secrets := []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_CLASS, miekg.CKO_PRIVATE_KEY)}
	testenv.Must(b, module.FindObjectsInit(sessions[0], secrets))
	private, _, err := module.FindObjects(sessions[0], 1)
	if err != nil || len(private) != 1 {
		b.Fatal(private, err)
	}
	testenv.Must(b, module.FindObjectsFinal(sessions[0]))
	var next atomic.Uint64
	mechanism, verify := bareScheme(key)
	return func(worker int) error {
		digest := hsmDigest(next.Add(1))
		if err := module.SignInit(sessions[worker], mechanism, private[0]); err != nil {
			return err
		}
		signature, err := module.Sign(sessions[worker], digest[:])
		if err == nil && !verify(digest[:], signature) {
			err = fmt.Errorf("the signature does not verify: %x", signature)
		}
		return err
	}
}

// bareScheme returns the mechanism of a key, and the verification that the keystore does,
// with the same libraries.
func bareScheme(key keystore.Key) (mechanism []*miekg.Mechanism, verify func(digest, signature []byte) bool) {
	if key.PublicKey().Curve() == keystore.CurveEd25519 {
		public := key.PublicKey().Ed25519()
		const eddsa = 0x1057 // CKM_EDDSA
		return []*miekg.Mechanism{miekg.NewMechanism(eddsa, nil)}, func(digest, signature []byte) bool {
			return ed25519.Verify(public[:], digest, signature)
		}
	}
	public := key.PublicKey().Uncompressed()
	return []*miekg.Mechanism{miekg.NewMechanism(miekg.CKM_ECDSA, nil)}, func(digest, signature []byte) bool {
		lowerHalf(signature[32:])
		return recovers(public[:], digest, append(signature, 0)) || recovers(public[:], digest, append(signature, 1))
	}
}

// recovers reports whether the public key can be recovered from r ‖ s ‖ v. A signature
// for a chain needs v, and finding it is the verification.
func recovers(public, digest, signature []byte) bool {
	recovered, err := crypto.Ecrecover(digest, signature)
	return err == nil && bytes.Equal(recovered, public)
}

// lowerHalf makes s low, as the chains require.
func lowerHalf(s []byte) {
	if s[0] < 0x80 {
		return // wrong for one in 2^128
	}
	order := crypto.S256().Params().N.Bytes()
	borrow := 0
	for i := 31; i >= 0; i-- {
		difference := int(order[i]) - int(s[i]) - borrow
		borrow = difference >> 8 & 1
		s[i] = byte(difference)
	}
}

// BenchmarkPKCS11Latency measures an HSM that takes a millisecond longer for each
// signature: 16 workers with a pool of 8 sessions relative to one session. The target is
// 3.5 times as many signatures.
func BenchmarkPKCS11Latency(b *testing.B) {
	token := testenv.SoftHSM(b)
	proxy := faultproxy.Build(b, token.Module)
	key := hsmKey(b, openHSM(b, token, proxy.Module, 8), keystore.CurveSecp256k1)
	single, err := openHSM(b, token, proxy.Module, 1).Find(b.Context(), "org", keystore.ByID(key.ID()))
	testenv.Must(b, err)
	const workers = 16
	proxy.Delay(time.Millisecond)
	eight, one := hsmSign(b, key, leaving(b, workers)), hsmSign(b, single, leaving(b, workers))
	comparePaces(b,
		func() pace { return measured(b, workers, eight) },
		func() pace { return measured(b, workers, one) })
}
