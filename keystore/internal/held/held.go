// Package held gives keys whose secret a device or a service holds the capability of their curve.
package held

import (
	"bytes"
	"context"

	"github.com/countersign-dev/countersign/keystore"
)

// Key is a key whose secret its holder does not reveal.
type Key interface {
	keystore.Key
	keystore.Described
	// Sign has the holder sign a digest of 32 bytes on secp256k1, a message on Ed25519. It returns
	// the error of finish, which verifies the raw signature, after it took note of it.
	Sign(ctx context.Context, message []byte, finish func(raw []byte) error) error
}

// Of returns the key with the capability of its curve. There is no SignSchnorr: neither PKCS#11 nor
// any service has BIP-340.
func Of(key Key) keystore.Key {
	if key.PublicKey().Curve() == keystore.CurveEd25519 {
		return ed25519Key{self{key}}
	}
	return secp256k1Key{self{key}}
}

// self is a key that verifies its signatures itself.
type self struct{ Key }

func (self) VerifiesSignatures() bool { return true }

type secp256k1Key struct{ self }
type ed25519Key struct{ self }

var (
	_ keystore.ECDSASigner   = secp256k1Key{}
	_ keystore.Ed25519Signer = ed25519Key{}
	_ keystore.SelfVerifying = secp256k1Key{}
	_ keystore.Described     = ed25519Key{}
)

func (k secp256k1Key) SignECDSA(ctx context.Context, digest [32]byte) (signature [65]byte, err error) {
	err = k.Sign(ctx, digest[:], func(raw []byte) (err error) {
		signature, err = keystore.FinishECDSA(k.PublicKey(), digest, raw)
		return err
	})
	return signature, err
}

func (k ed25519Key) SignEd25519(ctx context.Context, message []byte) (signature [64]byte, err error) {
	message = bytes.Clone(message) // the operation may outlive this call
	err = k.Sign(ctx, message, func(raw []byte) (err error) {
		signature, err = keystore.FinishEd25519(k.PublicKey(), message, raw)
		return err
	})
	return signature, err
}
