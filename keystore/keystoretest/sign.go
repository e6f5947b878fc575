package keystoretest

import (
	"bytes"
	"context"
	stdlib "crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"github.com/countersign-dev/countersign/keystore"
)

var tweaks = map[string]keystore.TaprootTweak{
	"script path":           keystore.ScriptPath(),
	"key path":              keystore.KeyPath(),
	"key path with a root":  keystore.KeyPathWithRoot(sha256.Sum256([]byte("root"))),
	"key path, root of 0s":  keystore.KeyPathWithRoot([32]byte{}),
	"key path, root of ffs": keystore.KeyPathWithRoot([32]byte(bytes.Repeat([]byte{0xff}, 32))),
}

// signatures returns every signature that a key can make, by name.
func signatures(key keystore.Key) map[string]func(context.Context, [32]byte) ([]byte, error) {
	all := map[string]func(context.Context, [32]byte) ([]byte, error){}
	if signer, ok := keystore.As[keystore.ECDSASigner](key); ok {
		all["ECDSA"] = func(ctx context.Context, digest [32]byte) ([]byte, error) {
			signature, err := signer.SignECDSA(ctx, digest)
			return signature[:], err
		}
	}
	if signer, ok := keystore.As[keystore.LowRSigner](key); ok {
		all["ECDSA with a low r"] = func(ctx context.Context, digest [32]byte) ([]byte, error) {
			signature, err := signer.SignLowR(ctx, digest)
			return signature[:], err
		}
	}
	if signer, ok := keystore.As[keystore.SchnorrSigner](key); ok {
		for name, tweak := range tweaks {
			all["BIP-340, "+name] = func(ctx context.Context, digest [32]byte) ([]byte, error) {
				signature, err := signer.SignSchnorr(ctx, digest, tweak)
				return signature[:], err
			}
		}
	}
	if signer, ok := keystore.As[keystore.Ed25519Signer](key); ok {
		all["Ed25519"] = func(ctx context.Context, digest [32]byte) ([]byte, error) {
			signature, err := signer.SignEd25519(ctx, digest[:])
			return signature[:], err
		}
	}
	return all
}

// digests returns 24 digests, including the smallest and the largest.
func digests() [][32]byte {
	all := [][32]byte{{}, [32]byte(bytes.Repeat([]byte{0xff}, 32))}
	for i := range 22 {
		all = append(all, sha256.Sum256(fmt.Appendf(nil, "digest %d", i)))
	}
	return all
}

func ofCurve(keys []Key, curve keystore.Curve) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(key Key) bool { return key.Curve != curve })
}

func (s suite) ecdsa(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range ofCurve(keys, keystore.CurveSecp256k1) {
		signer, err := keystore.AsECDSA(find(t, store, key))
		if err != nil {
			t.Fatal(err)
		}
		for _, digest := range digests() {
			signature, err := signer.SignECDSA(t.Context(), digest)
			if err != nil {
				t.Fatalf("digest %x: %v", digest, err)
			}
			if err := keystore.VerifyECDSA(key.publicKey(t), digest, signature); err != nil {
				t.Errorf("digest %x: signature %x: %v", digest, signature, err)
			}
			again, err := signer.SignECDSA(t.Context(), digest)
			if err != nil || !s.RandomizedECDSA && again != signature {
				t.Errorf("digest %x: signed again: %x, %v, want %x", digest, again, err, signature)
			}
		}
	}
}

// lowR checks the keys that are LowRSigners: of signatures whose r is low anyway, SignLowR
// makes the same.
func (s suite) lowR(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range ofCurve(keys, keystore.CurveSecp256k1) {
		found := find(t, store, key)
		signer, err := keystore.AsECDSA(found)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := keystore.As[keystore.LowRSigner](found); !ok {
			continue
		}
		for _, digest := range digests() {
			signature, err := keystore.SignLowR(t.Context(), signer, digest)
			if err != nil {
				t.Fatalf("digest %x: %v", digest, err)
			}
			if err := keystore.VerifyECDSA(key.publicKey(t), digest, signature); err != nil || signature[0] >= 0x80 {
				t.Errorf("digest %x: signature %x with a low r: %v", digest, signature, err)
			}
			plain, err := signer.SignECDSA(t.Context(), digest)
			if err != nil || plain[0] < 0x80 && plain != signature {
				t.Errorf("digest %x: signature %x with a low r, want %x (%v)", digest, signature, plain, err)
			}
		}
	}
}

func (s suite) schnorr(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range ofCurve(keys, keystore.CurveSecp256k1) {
		signer, err := keystore.AsSchnorr(find(t, store, key))
		if s.NoSchnorr {
			if !errors.Is(err, keystore.ErrUnsupported) {
				t.Errorf("AsSchnorr: %v, want ErrUnsupported", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, tweak := range tweaks {
			for _, digest := range digests()[:6] {
				checkSchnorr(t, name, signer, key.publicKey(t), digest, tweak)
			}
		}
	}
}

func checkSchnorr(t *testing.T, name string, signer keystore.SchnorrSigner, pub keystore.PublicKey, digest [32]byte,
	tweak keystore.TaprootTweak) {
	t.Helper()
	signature, err := signer.SignSchnorr(t.Context(), digest, tweak)
	if err != nil {
		t.Errorf("%s: digest %x: %v", name, digest, err)
		return
	}
	outputKey, err := tweak.OutputKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	point, err := schnorr.ParsePubKey(outputKey[:])
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := schnorr.ParseSignature(signature[:])
	if err != nil || !parsed.Verify(digest[:], point) {
		t.Errorf("%s: digest %x: signature %x does not verify under %x: %v", name, digest, signature, outputKey, err)
	}
	if again, err := signer.SignSchnorr(t.Context(), digest, tweak); err != nil || again != signature {
		t.Errorf("%s: digest %x: signed again: %x, %v, want %x", name, digest, again, err, signature)
	}
}

func (s suite) ed25519(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range ofCurve(keys, keystore.CurveEd25519) {
		signer, err := keystore.AsEd25519(find(t, store, key))
		if err != nil {
			t.Fatal(err)
		}
		pub := key.publicKey(t).Ed25519()
		for _, size := range []int{0, 1, 31, 32, 64, 127, 128, 129, 1232, 100_000} {
			message := bytes.Repeat([]byte{0xa5}, size)
			signature, err := signer.SignEd25519(t.Context(), message)
			if s.MaxMessage > 0 && size > s.MaxMessage {
				if !errors.Is(err, keystore.ErrUnsupported) {
					t.Errorf("message of %d bytes: %v, want ErrUnsupported", size, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("message of %d bytes: %v", size, err)
			}
			if !bytes.Equal(message, bytes.Repeat([]byte{0xa5}, size)) {
				t.Errorf("message of %d bytes was changed", size)
			}
			if !stdlib.Verify(pub[:], message, signature[:]) {
				t.Errorf("message of %d bytes: signature %x does not verify", size, signature)
			}
			if again, err := signer.SignEd25519(t.Context(), message); err != nil || again != signature {
				t.Errorf("message of %d bytes: signed again: %x, %v, want %x", size, again, err, signature)
			}
		}
	}
}

// unsupported requests the signatures of the other curve from each key.
func (s suite) unsupported(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range keys {
		handle := find(t, store, key)
		_, ecdsa := keystore.AsECDSA(handle)
		_, schnorr := keystore.AsSchnorr(handle)
		_, ed25519 := keystore.AsEd25519(handle)
		refused := []error{ed25519}
		if key.Curve == keystore.CurveEd25519 {
			refused = []error{ecdsa, schnorr}
		}
		for _, err := range refused {
			if !errors.Is(err, keystore.ErrUnsupported) {
				t.Errorf("%v key: %v, want ErrUnsupported", key.Curve, err)
			}
		}
	}
}
