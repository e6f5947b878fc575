// Package software implements keys whose secrets are in this process's memory: the key, its
// signatures, and the index that finds it. The backends memory and file are built on it.
package software

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"

	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
)

// Key is a secret with its metadata. It is not a keystore.Key, because it can reveal and destroy the
// secret. Its Handle is the keystore.Key to hand out.
type Key struct {
	secret keystore.Secret // secp256k1: the scalar. Ed25519: seed ‖ public key
	public keystore.PublicKey

	id        string
	name      atomic.Pointer[string] // changed by Rename
	createdAt int64                  // Unix time in seconds
	actsFor   []byte                 // keystore.KeyInfo.ActsFor in binary, nil if none
	withdrawn atomic.Bool            // removed from an index that is still open
}

// ErrOtherPublicKey is the error of New if the secret does not belong to the public key in info.
var ErrOtherPublicKey = errors.New("the secret does not belong to the public key")

// New returns a key with a copy of a secret of keystore.SecretSize bytes. The public key is derived
// from the secret. If info has a public key, it must be the same.
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

// holdSecp256k1 derives the public key. If it is the expected one, it need not be parsed again.
func (k *Key) holdSecp256k1(secret []byte, expected keystore.PublicKey) error {
	point, err := secp256k1.PublicKey(secret)
	if err != nil {
		return err
	}
	if expected.Curve() == keystore.CurveSecp256k1 && expected.Uncompressed() == point {
		k.public = expected
	} else if k.public, err = keystore.ParsePublicKey(keystore.CurveSecp256k1, point[:]); err != nil {
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

// Generate returns a key with a random secret, to be added to a keystore. The caller wipes the secret.
func Generate(name string, curve keystore.Curve) keystore.NewKey {
	key := keystore.NewKey{Name: name, Curve: curve, Secret: make([]byte, keystore.SecretSize)}
	for {
		_, _ = rand.Read(key.Secret) // never fails
		if curve != keystore.CurveSecp256k1 || secp256k1.ValidSecret(key.Secret) {
			return key
		}
	}
}

func (k *Key) Info() keystore.KeyInfo {
	return keystore.KeyInfo{
		ID: k.id, Name: *k.name.Load(), PublicKey: k.public, CreatedAt: time.Unix(k.createdAt, 0).UTC(),
		ActsFor: hex.EncodeToString(k.actsFor),
	}
}

// Rename changes the key's name.
func (k *Key) Rename(name string) { k.name.Store(&name) }

// locators returns the key's locators, except by taproot.
func (k *Key) locators() []keystore.Locator {
	return append(keystore.Locators(k.public), keystore.ByID(k.id))
}

// Locators returns every locator of a key, also those of its scripts, which are costly.
func Locators(public keystore.PublicKey, id string) []keystore.Locator {
	all := append(keystore.Locators(public), keystore.ByID(id))
	for _, locate := range []func(keystore.PublicKey) (keystore.Locator, error){keystore.TaprootLocator,
		keystore.NestedLocator} {
		if locator, err := locate(public); err == nil {
			all = append(all, locator)
		}
	}
	return all
}

// RevealSecret calls use with the keystore.SecretSize bytes that were passed to New. The rules of
// keystore.Secret.Reveal apply.
func (k *Key) RevealSecret(use func(secret []byte) error) error {
	return k.use(func(secret []byte) error { return use(secret[:keystore.SecretSize]) })
}

// use calls do with the secret in its internal form. After the secret was destroyed, the error
// distinguishes a withdrawn key from a closed keystore.
func (k *Key) use(do func(secret []byte) error) error {
	err := k.secret.Reveal(do)
	if errors.Is(err, keystore.ErrClosed) && k.withdrawn.Load() {
		return keystore.ErrWithdrawn
	}
	return err
}

// Destroy overwrites the secret. The key's handles then return keystore.ErrClosed.
func (k *Key) Destroy() { k.secret.Destroy() }

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

// sign makes a signature with the secret, unless the context has ended.
func sign[Signature any](ctx context.Context, k *Key,
	with func(secret []byte) (Signature, error)) (signature Signature, err error) {
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	err = k.use(func(secret []byte) error {
		signature, err = with(secret)
		return err
	})
	return signature, err
}

func (k *secp256k1Handle) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	return sign(ctx, (*Key)(k), func(secret []byte) ([65]byte, error) { return secp256k1.SignECDSA(digest, secret) })
}

func (k *secp256k1Handle) SignLowR(ctx context.Context, digest [32]byte) ([65]byte, error) {
	return sign(ctx, (*Key)(k), func(secret []byte) ([65]byte, error) { return secp256k1.SignLowR(digest, secret) })
}

// SignSchnorr signs in constant time in every build. It does not verify the signature, which
// keystore.Verified does for every backend.
func (k *secp256k1Handle) SignSchnorr(ctx context.Context, digest [32]byte, tweak keystore.TaprootTweak) ([64]byte, error) {
	return sign(ctx, (*Key)(k), func(secret []byte) ([64]byte, error) {
		if tweak.IsKeyPath() {
			return secp256k1.SignTaproot(digest, secret, k.public.Compressed(), tweak.MerkleRoot())
		}
		return secp256k1.SignSchnorr(digest, secret, k.public.Compressed())
	})
}

// SignEd25519 uses curve25519-voi rather than crypto/ed25519, whose Sign caches values derived
// from the secret on the Go heap, out of reach of Destroy, and crashes the process if the secret is
// outside that heap, as in the vault.
func (k *ed25519Handle) SignEd25519(ctx context.Context, message []byte) ([64]byte, error) {
	return sign(ctx, (*Key)(k), func(secret []byte) ([64]byte, error) {
		return [64]byte(ed25519.Sign(secret, message)), nil
	})
}
