// Package software keeps keys whose secrets are in this process's memory: the
// key, its signatures, and the index that finds it. The backends memory and
// file are made of it.
package software

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"

	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
)

// Key is a secret and what is known of it. It is not a keystore.Key: who has a
// Key can destroy and export it; what is handed out is its Handle.
type Key struct {
	secret keystore.Secret // secp256k1: the scalar. Ed25519: seed ‖ public key
	public keystore.PublicKey

	id        string
	name      atomic.Pointer[string] // can change
	createdAt int64                  // seconds since 1970
	actsFor   []byte                 // keystore.KeyInfo.ActsFor in binary, nil if none
	withdrawn atomic.Bool            // taken out of its index, which goes on
}

// ErrOtherPublicKey is what New returns when the secret does not belong to the
// public key that info names.
var ErrOtherPublicKey = errors.New("the secret does not belong to the public key")

var errScalar = errors.New("secp256k1 secret: not between 1 and the group order")

// New makes a key from a secret of keystore.SecretSize bytes, which it copies.
// The public key is derived from it. If info has one, it must be that.
func New(info keystore.KeyInfo, curve keystore.Curve, secret []byte) (*Key, error) {
	if len(secret) != keystore.SecretSize {
		return nil, fmt.Errorf("%v secret: %d bytes, want %d", curve, len(secret), keystore.SecretSize)
	}
	actsFor, err := hex.DecodeString(info.ActsFor)
	if err != nil {
		return nil, fmt.Errorf("the account that the key acts for: %w", err)
	}
	key := &Key{id: info.ID, createdAt: info.CreatedAt.Unix()}
	if len(actsFor) > 0 {
		key.actsFor = actsFor
	}
	key.name.Store(&info.Name)
	switch curve {
	case keystore.CurveSecp256k1:
		err = key.holdSecp256k1(secret, info.PublicKey)
	case keystore.CurveEd25519:
		err = key.holdEd25519(secret)
	default:
		err = fmt.Errorf("unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
	}
	if err != nil {
		return nil, err
	}
	if !info.PublicKey.IsZero() && info.PublicKey != key.public {
		key.Destroy()
		return nil, fmt.Errorf("%w %v", ErrOtherPublicKey, info.PublicKey)
	}
	return key, nil
}

// holdSecp256k1 derives the public key. If that is the one that is expected, which was
// parsed, it need not be parsed a second time.
func (k *Key) holdSecp256k1(secret []byte, expected keystore.PublicKey) error {
	if !secp256k1.ValidSecret(secret) {
		return errScalar
	}
	point, err := derivePoint(secret)
	if err != nil {
		return err
	}
	if expected.Curve() == keystore.CurveSecp256k1 && expected.Uncompressed() == [65]byte(point) {
		k.public = expected
	} else if k.public, err = keystore.ParsePublicKey(keystore.CurveSecp256k1, point); err != nil {
		return err
	}
	k.secret = keystore.NewSecret(secret)
	return nil
}

func (k *Key) holdEd25519(seed []byte) (err error) {
	expanded := ed25519.NewKeyFromSeed(seed)
	defer keystore.Wipe(expanded)
	if k.public, err = keystore.ParsePublicKey(keystore.CurveEd25519, expanded[ed25519.SeedSize:]); err != nil {
		return err
	}
	k.secret = keystore.NewSecret(expanded)
	return nil
}

// Generate fills secret with a new secret for the curve.
func Generate(curve keystore.Curve, secret []byte) error {
	for {
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		if curve != keystore.CurveSecp256k1 || secp256k1.ValidSecret(secret) {
			return nil
		}
	}
}

// Info implements keystore.Described.
func (k *Key) Info() keystore.KeyInfo {
	return keystore.KeyInfo{
		ID: k.id, Name: *k.name.Load(), PublicKey: k.public, CreatedAt: time.Unix(k.createdAt, 0).UTC(),
		ActsFor: hex.EncodeToString(k.actsFor),
	}
}

// Rename gives the key another name.
func (k *Key) Rename(name string) { k.name.Store(&name) }

// locators returns where the key is found, except by taproot.
func (k *Key) locators() []keystore.Locator {
	return append(keystore.Locators(k.public), keystore.ByID(k.id))
}

// RevealSecret calls use with the keystore.SecretSize bytes that New took. They
// are the secret itself, under the rules of keystore.Secret.Reveal.
func (k *Key) RevealSecret(use func(secret []byte) error) error {
	return k.use(func(held []byte) error { return use(held[:keystore.SecretSize]) })
}

// use calls back with the secret as it is held. If there is none any more it tells a
// key that was withdrawn from a keystore that was closed.
func (k *Key) use(secret func(held []byte) error) error {
	err := k.secret.Reveal(secret)
	if errors.Is(err, keystore.ErrClosed) && k.withdrawn.Load() {
		return keystore.ErrWithdrawn
	}
	return err
}

// Destroy overwrites the secret; the key's handles return keystore.ErrClosed
// from then on.
func (k *Key) Destroy() { k.secret.Destroy() }
