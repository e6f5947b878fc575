package software

import (
	"context"
	"fmt"
	"io"

	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"

	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
)

var (
	_ keystore.ECDSASigner   = (*secp256k1Handle)(nil)
	_ keystore.LowRSigner    = (*secp256k1Handle)(nil)
	_ keystore.SchnorrSigner = (*secp256k1Handle)(nil)
	_ keystore.Ed25519Signer = (*ed25519Handle)(nil)
)

// The handles are a Key converted to a type that has the signature methods of its curve and no
// method that reveals or destroys the secret.
type (
	secp256k1Handle Key
	ed25519Handle   Key
)

// Handle returns the keystore.Key to hand out, without an allocation.
func (k *Key) Handle() keystore.Key {
	if k.public.Curve() == keystore.CurveEd25519 {
		return (*ed25519Handle)(k)
	}
	return (*secp256k1Handle)(k)
}

func (k *secp256k1Handle) ID() string                    { return k.id }
func (k *secp256k1Handle) PublicKey() keystore.PublicKey { return k.public }
func (k *ed25519Handle) ID() string                      { return k.id }
func (k *ed25519Handle) PublicKey() keystore.PublicKey   { return k.public }

func (k *secp256k1Handle) Info() keystore.KeyInfo { return (*Key)(k).Info() }

func (k *ed25519Handle) Info() keystore.KeyInfo { return (*Key)(k).Info() }

func (k *secp256k1Handle) ActsFor() []byte { return k.actsFor }

// Format writes the key's id for every verb.
func (k *secp256k1Handle) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, "key "+k.id) }

// Format writes the key's id for every verb.
func (k *ed25519Handle) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, "key "+k.id) }

// ComputesRecoveryID marks a key whose recovery ids are computed by the curve library together
// with the signatures: keystore.Verified does not check them.
func (*secp256k1Handle) ComputesRecoveryID() {}

func (k *secp256k1Handle) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	return k.signECDSA(ctx, digest, secp256k1.SignECDSA)
}

func (k *secp256k1Handle) SignLowR(ctx context.Context, digest [32]byte) ([65]byte, error) {
	return k.signECDSA(ctx, digest, secp256k1.SignLowR)
}

func (k *secp256k1Handle) signECDSA(ctx context.Context, digest [32]byte, with func([32]byte, []byte) ([65]byte,
	error)) (signature [65]byte, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = (*Key)(k).use(func(secret []byte) error {
		signature, err = with(digest, secret)
		return err
	})
	return signature, err
}

// SignSchnorr signs in constant time in every build. It does not verify the signature, which
// keystore.Verified does for every backend.
func (k *secp256k1Handle) SignSchnorr(ctx context.Context, digest [32]byte, tweak keystore.TaprootTweak) (signature [64]byte, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = (*Key)(k).use(func(secret []byte) error {
		if tweak.IsKeyPath() {
			signature, err = secp256k1.SignTaproot(digest, secret, k.public.Compressed(), tweak.MerkleRoot())
		} else {
			signature, err = secp256k1.SignSchnorr(digest, secret, k.public.Compressed())
		}
		return err
	})
	return signature, err
}

// SignEd25519 uses curve25519-voi rather than crypto/ed25519, whose Sign caches values derived
// from the secret on the Go heap, out of reach of Destroy, and crashes the process if the secret is
// outside that heap, as in the vault.
func (k *ed25519Handle) SignEd25519(ctx context.Context, message []byte) (signature [64]byte, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = (*Key)(k).use(func(secret []byte) error {
		copy(signature[:], ed25519.Sign(secret, message))
		return nil
	})
	return signature, err
}
