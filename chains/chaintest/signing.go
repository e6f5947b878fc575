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

// Ready returns the signing of a transaction, or the error of Request or With.
func Ready(tx chains.Transaction, signWith string, keys ...keystore.Key) (chains.Signing, error) {
	request, err := tx.Request(signWith)
	if err != nil {
		return nil, err
	}
	return request.With(keys...)
}

// Sign parses and signs a transaction. It returns the signed bytes or the first error.
func Sign(ctx context.Context, chain chains.Chain, raw []byte, signWith string, keys ...keystore.Key) ([]byte, error) {
	tx, err := chain.Parse(raw)
	if err != nil {
		return nil, err
	}
	signing, err := Ready(tx, signWith, keys...)
	if err != nil {
		return nil, err
	}
	return signing.AppendSigned(ctx, nil)
}

// checkSign checks that signing twice gives the same bytes, whatever is called in between,
// and that the bytes are appended to a reused buffer.
func checkSign(t *testing.T, chain chains.Chain, sample Sample) {
	unchanged(t, sample.Raw)
	first := sign(t, chain, sample)
	tx := parse(t, chain, sample.Raw)
	tx.Summary()
	tx.Hazards()
	signing := ready(t, tx, sample)
	signing.Hazards()
	signing.SignerView()
	for range 2 {
		signed, err := signing.AppendSigned(t.Context(), nil)
		if err != nil || !bytes.Equal(signed, first) {
			t.Fatalf("signed again\n%x (%v), want\n%x", signed, err, first)
		}
		clear(signed)
	}
	dst := append([]byte("before"), bytes.Repeat([]byte{0xff}, len(first)+1)...)[:len("before")]
	signed, err := signing.AppendSigned(t.Context(), dst)
	if want := append([]byte("before"), first...); err != nil || !bytes.Equal(signed, want) {
		t.Errorf("appended\n%x (%v), want\n%x", signed, err, want)
	}
}

func ready(t testing.TB, tx chains.Transaction, sample Sample) chains.Signing {
	t.Helper()
	signing, err := Ready(tx, sample.Key.ID(), sample.Key)
	if err != nil {
		t.Fatal(err)
	}
	if ids := signing.KeyIDs(); len(ids) != 1 || ids[0] != sample.Key.ID() {
		t.Errorf("the keys %v will sign, want %s", ids, sample.Key.ID())
	}
	return signing
}

func sign(t testing.TB, chain chains.Chain, sample Sample) []byte {
	t.Helper()
	signed, err := ready(t, parse(t, chain, sample.Raw), sample).AppendSigned(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// checkParallel signs the same bytes in several goroutines.
func checkParallel(t *testing.T, chain chains.Chain, sample Sample) {
	unchanged(t, sample.Raw)
	want := sign(t, chain, sample)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			signed, err := Sign(t.Context(), chain, sample.Raw, sample.Key.ID(), sample.Key)
			if err != nil || !bytes.Equal(signed, want) {
				t.Errorf("signed\n%x (%v), want\n%x", signed, err, want)
			}
		})
	}
	done.Wait()
}

func checkCancelled(t *testing.T, chain chains.Chain, sample Sample) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	signed, err := ready(t, parse(t, chain, sample.Raw), sample).AppendSigned(ctx, nil)
	if signed != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%x, %v", signed, err)
	}
}

func checkFailingKey(t *testing.T, chain chains.Chain, sample Sample) {
	signed, err := Sign(t.Context(), chain, sample.Raw, sample.Key.ID(), failingKey{sample.Key})
	if signed != nil || !errors.Is(err, errBackend) {
		t.Errorf("%x, %v", signed, err)
	}
}

func checkOtherCurve(t *testing.T, chain chains.Chain, sample Sample) {
	curve := keystore.CurveSecp256k1
	if sample.Key.PublicKey().Curve() == curve {
		curve = keystore.CurveEd25519
	}
	other := Key(t, curve, bytes.Repeat([]byte{7}, keystore.SecretSize))
	if addresses := chain.Addresses(other.PublicKey()); addresses != nil {
		t.Errorf("a key of %v has addresses %v", curve, addresses)
	}
	signing, err := Ready(parse(t, chain, sample.Raw), other.ID(), other)
	if signing != nil || !errors.Is(err, keystore.ErrUnsupported) && !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("%v, %v", signing, err)
	}
}

var errBackend = errors.New("the backend fails")

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

// MustReady is Ready for a key that can sign.
func MustReady(t testing.TB, tx chains.Transaction, signWith string, keys ...keystore.Key) chains.Signing {
	t.Helper()
	signing, err := Ready(tx, signWith, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return signing
}
