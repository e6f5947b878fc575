package keystore

import (
	"context"
	"fmt"
)

// ECDSASigner makes ECDSA signatures on secp256k1.
type ECDSASigner interface {
	// SignECDSA signs a 32-byte digest. The signature is r ‖ s ‖ v: r and s 32 bytes each,
	// big-endian, s in the lower half of the group order, v the recovery id, 0 or 1. Keys in
	// memory and in files use the nonce of RFC 6979, so that equal digests give equal
	// signatures; HSMs may use random nonces.
	SignECDSA(ctx context.Context, digest [32]byte) (signature [65]byte, err error)
}

// LowRSigner is implemented by ECDSASigners that can give Bitcoin's signatures the size that
// wallets expect. Keys in memory and in files are; keys in HSMs, which choose the nonce
// themselves, are not.
type LowRSigner interface {
	// SignLowR is SignECDSA with r < 2^255, which takes 32 bytes in DER instead of 33. Its
	// signatures are those of Bitcoin Core: the nonce is that of RFC 6979, and while r is high,
	// that with a counter as additional data (32 bytes, little-endian, from 1).
	SignLowR(ctx context.Context, digest [32]byte) (signature [65]byte, err error)
}

// SignLowR signs like a LowRSigner if the signer is one, and like any ECDSASigner otherwise.
func SignLowR(ctx context.Context, signer ECDSASigner, digest [32]byte) ([65]byte, error) {
	if low, ok := as[LowRSigner](signer); ok {
		return low.SignLowR(ctx, digest)
	}
	return signer.SignECDSA(ctx, digest)
}

// SchnorrSigner makes BIP-340 signatures on secp256k1.
type SchnorrSigner interface {
	// SignSchnorr signs a 32-byte digest for the tweaked public key (BIP-341). The nonce uses
	// 32 zero bytes of auxiliary data, so that equal digests give equal signatures.
	SignSchnorr(ctx context.Context, digest [32]byte, tweak TaprootTweak) (signature [64]byte, err error)
}

// Ed25519Signer makes Ed25519 signatures (RFC 8032, without pre-hash).
type Ed25519Signer interface {
	// SignEd25519 signs a whole message, which it must neither keep nor change.
	SignEd25519(ctx context.Context, message []byte) (signature [64]byte, err error)
}

// As returns a capability of a key. A key of [Verified] has those of the key that it verifies, and
// the methods of others: a type assertion does not tell them apart.
func As[Signer any](key Key) (signer Signer, ok bool) { return as[Signer](key) }

func as[Signer any](key any) (signer Signer, ok bool) {
	signer, ok = key.(Signer)
	if verified, isVerified := key.(*verifiedKey); isVerified {
		_, ok = verified.Key.(Signer)
	}
	return signer, ok
}

// AsECDSA returns the key's ECDSA capability, or an error that wraps ErrUnsupported and names
// the key.
func AsECDSA(key Key) (ECDSASigner, error) {
	if signer, ok := As[ECDSASigner](key); ok {
		return signer, nil
	}
	return nil, unsupported(key, "ECDSA signatures on secp256k1")
}

// AsSchnorr returns the key's BIP-340 capability, like AsECDSA. Keys in HSMs do not have it;
// the error names the address to use instead.
func AsSchnorr(key Key) (SchnorrSigner, error) {
	if signer, ok := As[SchnorrSigner](key); ok {
		return signer, nil
	}
	err := unsupported(key, "BIP-340 signatures")
	if key.PublicKey().Curve() == CurveSecp256k1 {
		return nil, fmt.Errorf("%w, which HSMs do not support: use its P2WPKH address instead of the taproot one", err)
	}
	return nil, err
}

// AsEd25519 returns the key's Ed25519 capability, like AsECDSA.
func AsEd25519(key Key) (Ed25519Signer, error) {
	if signer, ok := As[Ed25519Signer](key); ok {
		return signer, nil
	}
	return nil, unsupported(key, "Ed25519 signatures")
}

func unsupported(key Key, signatures string) error {
	return fmt.Errorf("%w: key %s (%s) cannot make %s", ErrUnsupported, key.ID(), key.PublicKey().Curve(), signatures)
}

// Described is implemented by keys that know their KeyInfo.
type Described interface {
	Info() KeyInfo
}

// InfoOf returns the KeyInfo of a key. If the key is not Described, it has only the id and the
// public key.
func InfoOf(key Key) KeyInfo {
	if described, ok := key.(Described); ok {
		return described.Info()
	}
	return KeyInfo{ID: key.ID(), PublicKey: key.PublicKey()}
}

// Delegate is implemented by keys that may sign for another account than their own, such as an
// access key authorized by a Tempo account.
type Delegate interface {
	// ActsFor returns the address of that account in the chain's binary form, nil if none.
	ActsFor() []byte
}

// ActsFor returns the account that the key signs for, nil if it signs for its own.
func ActsFor(key Key) []byte {
	if delegate, ok := key.(Delegate); ok {
		return delegate.ActsFor()
	}
	return nil
}
