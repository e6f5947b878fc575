package software

import (
	"context"
	"crypto/ed25519"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/countersign-dev/countersign/keystore"
)

var (
	_ keystore.ECDSASigner   = (*secp256k1Key)(nil)
	_ keystore.SchnorrSigner = (*secp256k1Key)(nil)
	_ keystore.Ed25519Signer = (*ed25519Key)(nil)
)

func (k *secp256k1Key) SignECDSA(ctx context.Context, digest [32]byte) (signature [65]byte, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = k.secret.Reveal(func(secret []byte) error {
		signature, err = signECDSA(digest, secret)
		return err
	})
	return signature, err
}

// SignSchnorr uses btcec, whose private key is a scalar that can be wiped; no
// ecdsa.PrivateKey is made. FastSign leaves out btcec's own verification:
// keystore.Verified does it for every backend alike.
func (k *secp256k1Key) SignSchnorr(ctx context.Context, digest [32]byte, tweak keystore.TaprootTweak) (signature [64]byte, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = k.secret.Reveal(func(secret []byte) error {
		private := secp256k1.PrivKeyFromBytes(secret)
		defer private.Zero()
		if tweak.IsKeyPath() {
			private = tweakPrivate(private, k.PublicKey(), tweak)
			defer private.Zero()
		}
		made, err := schnorr.Sign(private, digest[:], schnorr.CustomNonce([32]byte{}), schnorr.FastSign())
		if err != nil {
			return err
		}
		copy(signature[:], made.Serialize())
		return nil
	})
	return signature, err
}

func (k *ed25519Key) SignEd25519(ctx context.Context, message []byte) (signature [64]byte, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = k.secret.Reveal(func(secret []byte) error {
		copy(signature[:], ed25519.Sign(secret, message))
		return nil
	})
	return signature, err
}
