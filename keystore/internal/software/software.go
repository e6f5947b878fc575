// Package software makes keys whose secrets are in this process's memory. The
// backends memory and file share it.
package software

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"

	"github.com/countersign-dev/countersign/keystore"
)

// Key is a keystore.Key over a secret in memory. Its Destroy overwrites the
// secret.
type Key interface {
	keystore.Key
	Info() keystore.KeyInfo
	Secret() keystore.Secret
	Destroy()
}

// New makes a key from a secret of keystore.SecretSize bytes, which it copies.
// The public key is derived from it; info.PublicKey is filled in.
func New(info keystore.KeyInfo, curve keystore.Curve, secret []byte) (Key, error) {
	if len(secret) != keystore.SecretSize {
		return nil, fmt.Errorf("%v secret: %d bytes, want %d", curve, len(secret), keystore.SecretSize)
	}
	switch curve {
	case keystore.CurveSecp256k1:
		return newSecp256k1(info, secret)
	case keystore.CurveEd25519:
		return newEd25519(info, secret)
	}
	return nil, fmt.Errorf("unknown curve %v", curve)
}

// Generate fills secret with a new secret for the curve.
func Generate(curve keystore.Curve, secret []byte) error {
	for {
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		if curve != keystore.CurveSecp256k1 || validScalar(secret) {
			return nil
		}
	}
}

// base is what the keys of both curves have.
type base struct {
	info   keystore.KeyInfo
	secret keystore.Secret
}

func (b *base) ID() string                    { return b.info.ID }
func (b *base) PublicKey() keystore.PublicKey { return b.info.PublicKey }
func (b *base) Info() keystore.KeyInfo        { return b.info }
func (b *base) Secret() keystore.Secret       { return b.secret }
func (b *base) Destroy()                      { b.secret.Destroy() }

var errScalar = errors.New("secp256k1 secret: not between 1 and the group order")

type secp256k1Key struct{ base }

func newSecp256k1(info keystore.KeyInfo, secret []byte) (Key, error) {
	if !validScalar(secret) {
		return nil, errScalar
	}
	point, err := derivePoint(secret)
	if err != nil {
		return nil, err
	}
	info.PublicKey, err = keystore.ParsePublicKey(keystore.CurveSecp256k1, point)
	if err != nil {
		return nil, err
	}
	return &secp256k1Key{base{info, keystore.NewSecret(secret)}}, nil
}

type ed25519Key struct{ base }

func newEd25519(info keystore.KeyInfo, seed []byte) (Key, error) {
	expanded := ed25519.NewKeyFromSeed(seed)
	defer keystore.Wipe(expanded)
	var err error
	info.PublicKey, err = keystore.ParsePublicKey(keystore.CurveEd25519, expanded[ed25519.SeedSize:])
	if err != nil {
		return nil, err
	}
	return &ed25519Key{base{info, keystore.NewSecret(expanded)}}, nil
}
