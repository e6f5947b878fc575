package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/keystore"
)

var errRefused = errors.New("refused")

// expect turns the expected error into nil, and any other into an error.
func expect(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("got error %w, want %w", err, want)
}

// refusingKey refuses to sign, to stop the caller just before the signature.
type refusingKey struct{ keystore.Key }

func (refusingKey) SignECDSA(context.Context, [32]byte) (signature [65]byte, err error) {
	return signature, errRefused
}

func (refusingKey) SignSchnorr(context.Context, [32]byte, keystore.TaprootTweak) (signature [64]byte, err error) {
	return signature, errRefused
}

func (refusingKey) SignEd25519(context.Context, []byte) (signature [64]byte, err error) {
	return signature, errRefused
}

// cannedKey has its signature ready, so that signing costs nothing on the curve.
type cannedKey struct {
	keystore.Key
	ecdsa [65]byte
	short [64]byte // BIP-340 or Ed25519
}

// only returns the key with just the capabilities of a scheme, because keystore.Verified
// decides by them.
func (k *cannedKey) only(scheme workload.Scheme) keystore.Key {
	if scheme == workload.Ed25519 {
		return struct {
			keystore.Key
			keystore.Ed25519Signer
		}{k.Key, k}
	}
	return struct {
		keystore.Key
		keystore.ECDSASigner
		keystore.SchnorrSigner
	}{k.Key, k, k}
}

func (k *cannedKey) SignECDSA(context.Context, [32]byte) ([65]byte, error) { return k.ecdsa, nil }

func (k *cannedKey) SignSchnorr(context.Context, [32]byte, keystore.TaprootTweak) ([64]byte, error) {
	return k.short, nil
}

func (k *cannedKey) SignEd25519(context.Context, []byte) ([64]byte, error) { return k.short, nil }

// recordingKey signs with a real key, and stores the signature in a cannedKey.
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
