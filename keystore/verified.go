package keystore

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// SelfVerifying is implemented by keys whose backend has checked a signature
// against the public key before returning it.
type SelfVerifying interface {
	VerifiesSignatures() bool
}

// Verified returns a key that checks each signature of key under its public
// key and returns ErrSignatureCheck instead of one that does not verify. It has
// the capabilities that key has. A fault in a library, in memory or in an HSM
// would otherwise hand out a useless signature, or one from which the secret
// can be computed. A key that does so itself is returned as it is.
//
// Of the keys of this module that sign in software, the recovery id of ECDSA is taken
// from the curve library, which computes it with the signature: a wrong one gives nothing
// of the secret away, and finding it takes longer than all else that is checked. Of all
// other keys the recovery id is checked too.
func Verified(key Key) Key {
	if own, ok := key.(SelfVerifying); ok && own.VerifiesSignatures() {
		return key
	}
	ecdsa, isECDSA := key.(ECDSASigner)
	schnorr, isSchnorr := key.(SchnorrSigner)
	ed25519, isEd25519 := key.(Ed25519Signer)
	switch {
	case isECDSA && isSchnorr:
		return &verifiedSecp256k1{verifiedECDSA{key, ecdsa, checkOf(key)}, verifiedSchnorr{key, schnorr}}
	case isECDSA:
		return &verifiedECDSA{key, ecdsa, checkOf(key)}
	case isSchnorr:
		return &verifiedSchnorr{key, schnorr}
	case isEd25519:
		return &verifiedEd25519{key, ed25519}
	}
	return key
}

// recoverer is implemented by keys whose recovery ids the curve library computes.
type recoverer interface{ ComputesRecoveryID() }

// checkOf returns how the ECDSA signatures of a key are checked.
func checkOf(key Key) func(PublicKey, [32]byte, [65]byte) error {
	if _, ok := key.(recoverer); ok {
		return verifyRS
	}
	return VerifyECDSA
}

// Info implements Described with what the key beneath says.
func (k *verifiedECDSA) Info() KeyInfo { return InfoOf(k.Key) }

type verifiedECDSA struct {
	Key
	signer ECDSASigner
	check  func(PublicKey, [32]byte, [65]byte) error
}

func (k *verifiedECDSA) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signature, err := k.signer.SignECDSA(ctx, digest)
	if err != nil {
		return [65]byte{}, err
	}
	if err := k.check(k.PublicKey(), digest, signature); err != nil {
		return [65]byte{}, fmt.Errorf("key %s: %w", k.ID(), err)
	}
	return signature, nil
}

// Info implements Described with what the key beneath says.
func (k *verifiedSchnorr) Info() KeyInfo { return InfoOf(k.Key) }

// ActsFor implements Delegate: what the key beneath says.
func (k *verifiedECDSA) ActsFor() []byte { return ActsFor(k.Key) }

type verifiedSchnorr struct {
	Key
	signer SchnorrSigner
}

func (k *verifiedSchnorr) SignSchnorr(ctx context.Context, digest [32]byte, tweak TaprootTweak) ([64]byte, error) {
	signature, err := k.signer.SignSchnorr(ctx, digest, tweak)
	if err != nil {
		return [64]byte{}, err
	}
	if err := verifySchnorr(k.PublicKey(), digest, tweak, signature); err != nil {
		return [64]byte{}, fmt.Errorf("key %s: %w", k.ID(), err)
	}
	return signature, nil
}

// Info implements Described with what the key beneath says.
func (k *verifiedEd25519) Info() KeyInfo { return InfoOf(k.Key) }

type verifiedEd25519 struct {
	Key
	signer Ed25519Signer
}

func (k *verifiedEd25519) SignEd25519(ctx context.Context, message []byte) ([64]byte, error) {
	signature, err := k.signer.SignEd25519(ctx, message)
	if err != nil {
		return [64]byte{}, err
	}
	pub := k.PublicKey().Ed25519()
	if !ed25519.Verify(pub[:], message, signature[:]) {
		return [64]byte{}, fmt.Errorf("key %s: %w: ed25519", k.ID(), ErrSignatureCheck)
	}
	return signature, nil
}

// verifiedSecp256k1 is a key with both schemes of its curve.
type verifiedSecp256k1 struct {
	verifiedECDSA
	schnorr verifiedSchnorr
}

func (k *verifiedSecp256k1) SignSchnorr(ctx context.Context, digest [32]byte, tweak TaprootTweak) ([64]byte, error) {
	return k.schnorr.SignSchnorr(ctx, digest, tweak)
}

var (
	_ SelfVerifying = (*verifiedECDSA)(nil)
	_ SelfVerifying = (*verifiedSchnorr)(nil)
	_ SelfVerifying = (*verifiedSecp256k1)(nil)
	_ SelfVerifying = (*verifiedEd25519)(nil)
)

// VerifiesSignatures returns true: what is verified once need not be again.
func (*verifiedECDSA) VerifiesSignatures() bool { return true }

// VerifiesSignatures returns true, like verifiedECDSA's.
func (*verifiedSchnorr) VerifiesSignatures() bool { return true }

// VerifiesSignatures returns true, like verifiedECDSA's.
func (*verifiedEd25519) VerifiesSignatures() bool { return true }

// halfOrder is (n−1)/2 of secp256k1, big-endian: the largest s in low form.
var halfOrder = []byte{
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
}

// VerifyECDSA checks a signature r ‖ s ‖ v in all its parts: that s is low and
// v is 0 or 1, and that exactly this public key is recovered from it. Recovery
// checks v as well, which a plain verification would not look at.
func VerifyECDSA(pub PublicKey, digest [32]byte, signature [65]byte) error {
	if err := checkForm(&signature); err != nil {
		return err
	}
	recovered, err := crypto.Ecrecover(digest[:], signature[:])
	if err != nil {
		return fmt.Errorf("%w: ecdsa: %w", ErrSignatureCheck, err)
	}
	if pub.curve != CurveSecp256k1 || !bytes.Equal(recovered, pub.point[:]) {
		return fmt.Errorf("%w: ecdsa: made by another key", ErrSignatureCheck)
	}
	return nil
}

// verifyRS checks a signature r ‖ s ‖ v as VerifyECDSA does, but for which of the two
// recovery ids it is.
func verifyRS(pub PublicKey, digest [32]byte, signature [65]byte) error {
	if err := checkForm(&signature); err != nil {
		return err
	}
	if pub.curve != CurveSecp256k1 || !crypto.VerifySignature(pub.point[:], digest[:], signature[:64]) {
		return fmt.Errorf("%w: ecdsa", ErrSignatureCheck)
	}
	return nil
}

// checkForm refuses a high s, and a recovery id other than 0 and 1.
func checkForm(signature *[65]byte) error {
	if signature[64] > 1 {
		return fmt.Errorf("%w: ecdsa: recovery id %d", ErrSignatureCheck, signature[64])
	}
	if bytes.Compare(signature[32:64], halfOrder) > 0 {
		return fmt.Errorf("%w: ecdsa: s is high", ErrSignatureCheck)
	}
	return nil
}

func verifySchnorr(pub PublicKey, digest [32]byte, tweak TaprootTweak, signature [64]byte) error {
	outputKey, err := tweak.OutputKey(pub)
	if err != nil {
		return fmt.Errorf("%w: bip-340: %w", ErrSignatureCheck, err)
	}
	if !secp256k1.VerifySchnorr(outputKey, digest, signature) {
		return fmt.Errorf("%w: bip-340", ErrSignatureCheck)
	}
	return nil
}
