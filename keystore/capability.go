package keystore

import (
	"context"
	"fmt"
)

// ECDSASigner makes ECDSA signatures on secp256k1.
type ECDSASigner interface {
	// SignECDSA signs a 32-byte digest. The signature is r ‖ s ‖ v: r and s
	// 32 bytes each, big-endian, s in the lower half of the group order, v the
	// recovery id, 0 or 1. Keys in memory and in files use the nonce of
	// RFC 6979, so that equal digests give equal signatures; an HSM may not.
	SignECDSA(ctx context.Context, digest [32]byte) (signature [65]byte, err error)
}

// SchnorrSigner makes BIP-340 signatures on secp256k1.
type SchnorrSigner interface {
	// SignSchnorr signs a 32-byte digest under the public key that results
	// from the tweak (BIP-341). The nonce takes 32 zero bytes of auxiliary
	// data, so that equal digests give equal signatures.
	SignSchnorr(ctx context.Context, digest [32]byte, tweak TaprootTweak) (signature [64]byte, err error)
}

// Ed25519Signer makes Ed25519 signatures (RFC 8032, without pre-hash).
type Ed25519Signer interface {
	// SignEd25519 signs a whole message; it neither keeps nor changes it.
	SignEd25519(ctx context.Context, message []byte) (signature [64]byte, err error)
}

// AsECDSA returns the key's ECDSA capability, or an error that wraps
// ErrUnsupported and says which key cannot do it.
func AsECDSA(key Key) (ECDSASigner, error) {
	if signer, ok := key.(ECDSASigner); ok {
		return signer, nil
	}
	return nil, unsupported(key, "ECDSA signatures on secp256k1")
}

// AsSchnorr returns the key's BIP-340 capability, like AsECDSA. Keys in HSMs do
// not have it; the error names what they can sign for instead.
func AsSchnorr(key Key) (SchnorrSigner, error) {
	if signer, ok := key.(SchnorrSigner); ok {
		return signer, nil
	}
	err := unsupported(key, "BIP-340 signatures")
	if key.PublicKey().Curve() == CurveSecp256k1 {
		return nil, fmt.Errorf("%w, as HSMs cannot: use its P2WPKH address, not the taproot one", err)
	}
	return nil, err
}

// AsEd25519 returns the key's Ed25519 capability, like AsECDSA.
func AsEd25519(key Key) (Ed25519Signer, error) {
	if signer, ok := key.(Ed25519Signer); ok {
		return signer, nil
	}
	return nil, unsupported(key, "Ed25519 signatures")
}

func unsupported(key Key, what string) error {
	return fmt.Errorf("%w: key %s (%s) cannot make %s", ErrUnsupported, key.ID(), key.PublicKey().Curve(), what)
}

// Described is implemented by keys that know what a listing says of them.
type Described interface {
	Info() KeyInfo
}

// InfoOf returns what a listing says of a key: id and public key at least.
func InfoOf(key Key) KeyInfo {
	if described, ok := key.(Described); ok {
		return described.Info()
	}
	return KeyInfo{ID: key.ID(), PublicKey: key.PublicKey()}
}

// Delegate is implemented by keys that sign for another account than their own: an
// access key of Tempo, whose account has authorized it.
type Delegate interface {
	// ActsFor returns the address of that account, in the chain's binary form.
	ActsFor() []byte
}

// ActsFor returns the account that the key signs for, nil if it is its own.
func ActsFor(key Key) []byte {
	if delegate, ok := key.(Delegate); ok {
		return delegate.ActsFor()
	}
	return nil
}
