package keystore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// SelfVerifying is implemented by keys that verify their signatures before returning them.
type SelfVerifying interface {
	VerifiesSignatures() bool
}

// Verified returns a key that verifies each signature of key under its public key, and returns
// ErrSignatureCheck instead of one that does not verify. It has the same capabilities as key. A
// fault in a library, in memory or in an HSM could otherwise release a useless signature, or one
// from which the secret can be computed. A key that verifies its signatures itself is returned
// unchanged.
//
// For this module's own software keys, the ECDSA recovery id is trusted, because the curve library
// computes it together with the signature: a wrong one reveals nothing about the secret, and
// checking it would take longer than all other checks. For all other keys it is checked.
func Verified(key Key) Key {
	if self, ok := key.(SelfVerifying); ok && self.VerifiesSignatures() {
		return key
	}
	switch key.(type) {
	case ECDSASigner, SchnorrSigner, Ed25519Signer:
		return &verifiedKey{key}
	}
	return key
}

// verifiedKey has the methods of all capabilities; [As] finds those of the key.
type verifiedKey struct{ Key }

var (
	_ SelfVerifying = (*verifiedKey)(nil)
	_ Described     = (*verifiedKey)(nil)
	_ Delegate      = (*verifiedKey)(nil)
)

// VerifiesSignatures implements SelfVerifying, so that a key is not verified twice.
func (*verifiedKey) VerifiesSignatures() bool { return true }

func (k *verifiedKey) Info() KeyInfo { return InfoOf(k.Key) }

func (k *verifiedKey) ActsFor() []byte { return ActsFor(k.Key) }

func (k *verifiedKey) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signer, err := AsECDSA(k.Key)
	if err != nil {
		return [65]byte{}, err
	}
	signature, err := signer.SignECDSA(ctx, digest)
	return k.checkedECDSA(digest, signature, err)
}

// SignLowR implements LowRSigner. It also refuses a signature with a high r.
func (k *verifiedKey) SignLowR(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signer, ok := k.Key.(LowRSigner)
	if !ok {
		return [65]byte{}, unsupported(k.Key, "signatures with a low r")
	}
	signature, err := signer.SignLowR(ctx, digest)
	if err == nil && signature[0] >= 0x80 {
		return [65]byte{}, fmt.Errorf("key %s: %w: ecdsa: r is high", k.ID(), ErrSignatureCheck)
	}
	return k.checkedECDSA(digest, signature, err)
}

// recoverer is implemented by software keys, whose recovery ids the curve library computes.
type recoverer interface{ ComputesRecoveryID() }

func (k *verifiedKey) checkedECDSA(digest [32]byte, signature [65]byte, err error) ([65]byte, error) {
	if err != nil {
		return [65]byte{}, err
	}
	check := VerifyECDSA
	if _, ok := k.Key.(recoverer); ok {
		check = verifyRS
	}
	if err := check(k.PublicKey(), digest, signature); err != nil {
		return [65]byte{}, fmt.Errorf("key %s: %w", k.ID(), err)
	}
	return signature, nil
}

func (k *verifiedKey) SignSchnorr(ctx context.Context, digest [32]byte, tweak TaprootTweak) ([64]byte, error) {
	signer, err := AsSchnorr(k.Key)
	if err != nil {
		return [64]byte{}, err
	}
	signature, err := signer.SignSchnorr(ctx, digest, tweak)
	if err != nil {
		return [64]byte{}, err
	}
	outputKey, err := tweak.OutputKey(k.PublicKey())
	if err != nil {
		return [64]byte{}, fmt.Errorf("key %s: %w: bip-340: %w", k.ID(), ErrSignatureCheck, err)
	}
	if !secp256k1.VerifySchnorr(outputKey, digest, signature) {
		return [64]byte{}, fmt.Errorf("key %s: %w: bip-340", k.ID(), ErrSignatureCheck)
	}
	return signature, nil
}

func (k *verifiedKey) SignEd25519(ctx context.Context, message []byte) ([64]byte, error) {
	signer, err := AsEd25519(k.Key)
	if err != nil {
		return [64]byte{}, err
	}
	signature, err := signer.SignEd25519(ctx, message)
	if err != nil {
		return [64]byte{}, err
	}
	if _, err := FinishEd25519(k.PublicKey(), message, signature[:]); err != nil {
		return [64]byte{}, fmt.Errorf("key %s: %w", k.ID(), err)
	}
	return signature, nil
}

// halfOrder is (n−1)/2 of secp256k1, big-endian: the largest low s.
var halfOrder = []byte{
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
}

// VerifyECDSA verifies a signature r ‖ s ‖ v completely: s must be low, v must be 0 or 1, and
// recovery must yield exactly this public key. Unlike plain verification, recovery also checks v.
func VerifyECDSA(pub PublicKey, digest [32]byte, signature [65]byte) error {
	if err := checkForm(&signature); err != nil {
		return err
	}
	recovered, err := crypto.Ecrecover(digest[:], signature[:])
	if err != nil {
		return fmt.Errorf("%w: ecdsa: %w", ErrSignatureCheck, err)
	}
	if pub.curve != CurveSecp256k1 || !bytes.Equal(recovered, pub.point[:]) {
		return fmt.Errorf("%w: ecdsa: signed by another key", ErrSignatureCheck)
	}
	return nil
}

// verifyRS is VerifyECDSA without checking which of the two recovery ids is right.
func verifyRS(pub PublicKey, digest [32]byte, signature [65]byte) error {
	if err := checkForm(&signature); err != nil {
		return err
	}
	if pub.curve != CurveSecp256k1 || !crypto.VerifySignature(pub.point[:], digest[:], signature[:64]) {
		return fmt.Errorf("%w: ecdsa", ErrSignatureCheck)
	}
	return nil
}

// checkForm refuses a high s and a recovery id other than 0 or 1.
func checkForm(signature *[65]byte) error {
	if signature[64] > 1 {
		return fmt.Errorf("%w: ecdsa: recovery id %d", ErrSignatureCheck, signature[64])
	}
	if bytes.Compare(signature[32:64], halfOrder) > 0 {
		return fmt.Errorf("%w: ecdsa: s is high", ErrSignatureCheck)
	}
	return nil
}
