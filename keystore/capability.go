package keystore

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
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

// The following capabilities of a keystore are found by type assertion, like those of a key.

// Readier is a keystore that depends on something that can fail independently, such as an HSM.
type Readier interface {
	// Ready returns nil if a key could sign now, and otherwise an error that wraps
	// ErrUnavailable. It must return within seconds even if the keystore hangs.
	Ready(ctx context.Context) error
}

// Refresher is a keystore that keeps keys in memory which other processes may delete, disable
// or add. Every look-up takes that in; between look-ups, Refresh does.
type Refresher interface {
	// Refresh takes in what other processes have changed. The secrets of keys that were
	// deleted or disabled are no longer in memory when it returns without error.
	Refresh(ctx context.Context) error
}

// RefreshInterval is how often a server should call Refresh, so that a secret outlives its
// key by less than a minute however few requests come.
const RefreshInterval = 30 * time.Second

// Skipper is a keystore that works without the keys that it cannot use or trust.
type Skipper interface {
	// Skipped returns one error, with the reason, for each key that is not used.
	Skipped() []error
}

// Generator is a keystore that generates keys.
type Generator interface {
	// Generate generates a key in an organization. When it returns without error, the key
	// is stored safely: on disk, or in the HSM.
	Generate(ctx context.Context, organizationID, name string, curve Curve) (KeyInfo, error)
}

// CheckName refuses the name of a key or wallet, or the id of an organization, that cannot be
// shown as it is: one that is not UTF-8, or has characters that are invisible, control a
// terminal or change the direction of text. field names it in the error.
func CheckName(field, name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("%s is not valid UTF-8", field)
	}
	for i, r := range name {
		if !plaintext.Visible(r) {
			return fmt.Errorf("%s has the invisible or control character %U at byte %d", field, r, i)
		}
	}
	return nil
}

// NewKey is a key to be added to a keystore.
type NewKey struct {
	ID        string      // a UUID; generated if empty
	Name      string      // see CheckName
	Curve     Curve       // of the secret
	Secret    SecretBytes // SecretSize bytes; copied, the caller still owns them
	PublicKey PublicKey   // if not zero, the secret must belong to it
	CreatedAt time.Time   // now if zero; stored to the second, by backends that store it
	ActsFor   string      // KeyInfo.ActsFor; refused by backends that cannot store it
}

// Importer is a keystore that imports secrets.
type Importer interface {
	// AddBatch adds keys to an organization. Both slices have one element for each key, in
	// order: the key is stored safely if errs[i] is nil. If the organization has the id or
	// the secret already, errs[i] is ErrKeyExists and infos[i] the existing key.
	AddBatch(ctx context.Context, organizationID string, keys []NewKey) (infos []KeyInfo, errs []error)
}

// Exporter is a keystore that reveals secrets.
type Exporter interface {
	// RevealSecret calls use with the SecretSize bytes of a key's secret, which use must not keep.
	RevealSecret(ctx context.Context, organizationID, id string, use func(secret []byte) error) error
}

// Renamer is a keystore whose keys can be renamed.
type Renamer interface {
	// Rename changes the name of a key. The id stays the same.
	Rename(ctx context.Context, organizationID, id, name string) error
}

// Deleter is a keystore whose keys can be deleted.
type Deleter interface {
	// Delete deletes a key permanently: only an earlier copy can bring it back.
	Delete(ctx context.Context, organizationID, id string) error
}

// Disabler is a keystore whose keys can be disabled and enabled again.
type Disabler interface {
	// Disable disables a key without deleting its secret. After it returns, no process that
	// has the keystore open finds the key; only requests that have found it before may still
	// be signed. Disabling a disabled key does nothing.
	Disable(ctx context.Context, organizationID, id string) error

	// Enable undoes Disable.
	Enable(ctx context.Context, organizationID, id string) error

	// Disabled lists the disabled keys, oldest first. Keys does not list them.
	Disabled(ctx context.Context, organizationID string) ([]KeyInfo, error)
}

// Delegator is a keystore whose keys can be set to sign for another account.
type Delegator interface {
	// ActFor sets KeyInfo.ActsFor of a key. With an empty account, the key signs for its own
	// account again.
	ActFor(ctx context.Context, organizationID, id, account string) error
}

// Archiver is a keystore whose keys can be deleted in a way that can be undone.
type Archiver interface {
	// Archive removes a key, or a wallet with all its keys, and keeps an encrypted copy, of
	// which it returns the path.
	Archive(ctx context.Context, organizationID, id string) (path string, err error)
}

// SchnorrReporter is a keystore that reports whether its keys make BIP-340 signatures. Without
// it, they are assumed to do so.
type SchnorrReporter interface {
	// SignsSchnorr returns false if none of the keys can spend from a taproot address.
	SignsSchnorr() bool
}
