package chaintest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// checkSign: signing the same bytes again gives the same bytes, whatever was
// asked of the transaction before, and the input stays as it is. What is signed
// is the caller's own.
func checkSign(t *testing.T, chain chains.Chain, sample Sample) {
	unchanged(t, sample.Raw)
	first := sign(t, chain, sample)
	asked := parse(t, chain, sample.Raw)
	asked.Summary()
	asked.Hazards(sample.Key.PublicKey())
	asked.SignerView(sample.Key.PublicKey())
	if _, err := asked.Signers(sample.Key.ID()); err != nil {
		t.Error(err)
	}
	for range 2 {
		signed, err := asked.AppendSigned(t.Context(), nil, sample.Key, sample.Key.ID())
		if err != nil || !bytes.Equal(signed, first) {
			t.Fatalf("signed again\n%x (%v), want\n%x", signed, err, first)
		}
		clear(signed)
	}
	// Behind what is there, in room where something else was.
	dst := append([]byte("before"), bytes.Repeat([]byte{0xff}, len(first)+1)...)[:len("before")]
	signed, err := asked.AppendSigned(t.Context(), dst, sample.Key, sample.Key.ID())
	if want := append([]byte("before"), first...); err != nil || !bytes.Equal(signed, want) {
		t.Errorf("appended\n%x (%v), want\n%x", signed, err, want)
	}
}

func sign(t testing.TB, chain chains.Chain, sample Sample) []byte {
	t.Helper()
	tx := parse(t, chain, sample.Raw)
	if err := tx.Check(sample.Key, sample.Key.ID()); err != nil {
		t.Fatal(err)
	}
	signed, err := tx.AppendSigned(t.Context(), nil, sample.Key, sample.Key.ID())
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// checkParallel: chains are values without state, and many may read the same
// bytes at once.
func checkParallel(t *testing.T, chain chains.Chain, sample Sample) {
	unchanged(t, sample.Raw)
	want := sign(t, chain, sample)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			tx, err := chain.Parse(sample.Raw)
			if err != nil {
				t.Error(err)
				return
			}
			if signed, err := tx.AppendSigned(t.Context(), nil, sample.Key, sample.Key.ID()); err != nil || !bytes.Equal(signed, want) {
				t.Errorf("signed\n%x (%v), want\n%x", signed, err, want)
			}
		})
	}
	done.Wait()
}

// checkCancelled: the context reaches the key.
func checkCancelled(t *testing.T, chain chains.Chain, sample Sample) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	signed, err := parse(t, chain, sample.Raw).AppendSigned(ctx, nil, sample.Key, sample.Key.ID())
	if signed != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%x, %v", signed, err)
	}
}

// checkFailingKey: what a key's backend says comes through, and no bytes do.
func checkFailingKey(t *testing.T, chain chains.Chain, sample Sample) {
	signed, err := parse(t, chain, sample.Raw).AppendSigned(t.Context(), nil, failingKey{sample.Key}, sample.Key.ID())
	if signed != nil || !errors.Is(err, errBackend) {
		t.Errorf("%x, %v", signed, err)
	}
}

// checkOtherCurve: a key that cannot sign here is refused before it is asked.
func checkOtherCurve(t *testing.T, chain chains.Chain, sample Sample) {
	curve := keystore.CurveSecp256k1
	if sample.Key.PublicKey().Curve() == curve {
		curve = keystore.CurveEd25519
	}
	other := Key(t, curve, bytes.Repeat([]byte{7}, keystore.SecretSize))
	if addresses := chain.Addresses(other.PublicKey()); addresses != nil {
		t.Errorf("a key of %v has addresses %v", curve, addresses)
	}
	tx := parse(t, chain, sample.Raw)
	if err := tx.Check(other, other.ID()); !notFor(err) {
		t.Errorf("check: %v", err)
	}
	if signed, err := tx.AppendSigned(t.Context(), nil, other, other.ID()); signed != nil || !notFor(err) {
		t.Errorf("sign: %x, %v", signed, err)
	}
}

func notFor(err error) bool {
	return errors.Is(err, keystore.ErrUnsupported) || errors.Is(err, chains.ErrNotSigner)
}

var errBackend = errors.New("the backend fails")

// failingKey has every capability, and fails.
type failingKey struct{ keystore.Key }

func (failingKey) SignECDSA(context.Context, [32]byte) (signature [65]byte, err error) {
	return signature, errBackend
}

func (failingKey) SignSchnorr(context.Context, [32]byte, keystore.TaprootTweak) (signature [64]byte, err error) {
	return signature, errBackend
}

func (failingKey) SignEd25519(context.Context, []byte) (signature [64]byte, err error) {
	return signature, errBackend
}
