package keystore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// locatorKind is the meaning of a Locator's bytes.
type locatorKind uint8

const (
	byID      locatorKind = iota + 1 // 16 bytes of a UUID, or the SHA-256 of any other id
	byKeccak                         // last 20 bytes of Keccak-256(x ‖ y): Ethereum, Tron, Tempo
	byHash160                        // RIPEMD-160(SHA-256(compressed point)): Bitcoin
	byTaproot                        // x-only output key of BIP-86 (tweaked, no script): Bitcoin
	byEd25519                        // the 32-byte public key: Solana
	byNested                         // hash160 of the key's P2WPKH script, as P2SH has it (BIP-49): Bitcoin
)

// Locator identifies a key within an organization by its id or by one of its addresses. It is a
// compact value, comparable with ==, for use as the key of a map.
type Locator struct {
	kind locatorKind
	data [32]byte
}

// ByID locates a key by its id: a UUID by its 16 bytes, regardless of case, and any other id by
// its SHA-256.
func ByID(id string) Locator {
	if len(id) == 36 {
		if parsed, err := uuid.Parse(id); err == nil {
			return newLocator(byID, parsed[:])
		}
	}
	digest := sha256.Sum256([]byte(id))
	return newLocator(byID, digest[:])
}

// ByKeccak locates a secp256k1 key by the 20 bytes of its Ethereum address.
func ByKeccak(address [20]byte) Locator { return newLocator(byKeccak, address[:]) }

// ByHash160 locates a secp256k1 key by the hash160 of its compressed point.
func ByHash160(hash [20]byte) Locator { return newLocator(byHash160, hash[:]) }

// ByTaproot locates a secp256k1 key by the x-only output key of its BIP-86 address.
func ByTaproot(outputKey [32]byte) Locator { return newLocator(byTaproot, outputKey[:]) }

// ByNested locates a secp256k1 key by the hash in its P2SH-P2WPKH address.
func ByNested(scriptHash [20]byte) Locator { return newLocator(byNested, scriptHash[:]) }

// ByEd25519 locates an Ed25519 key by its public key.
func ByEd25519(publicKey [32]byte) Locator { return newLocator(byEd25519, publicKey[:]) }

func newLocator(kind locatorKind, data []byte) Locator {
	l := Locator{kind: kind}
	copy(l.data[:], data)
	return l
}

// UUID returns the id if the key is located by a UUID.
func (l Locator) UUID() (id uuid.UUID, ok bool) {
	id = uuid.UUID(l.data[:16])
	return id, l.kind == byID && [16]byte(l.data[16:]) == [16]byte{}
}

// IsTaproot reports whether the key is located by taproot.
func (l Locator) IsTaproot() bool { return l.kind == byTaproot }

// IsNested reports whether the key is located by P2SH-P2WPKH.
func (l Locator) IsNested() bool { return l.kind == byNested }

// String returns the locator in a form for logs.
func (l Locator) String() string {
	size := len(l.data)
	if l.kind == byKeccak || l.kind == byHash160 || l.kind == byNested {
		size = 20
	}
	return fmt.Sprintf("%d:%s", l.kind, hex.EncodeToString(l.data[:size]))
}

// Locators returns the locators of a public key, one for each kind of address that it has on
// any chain, except those of its scripts (see [TaprootLocator] and [NestedLocator]).
func Locators(pub PublicKey) []Locator {
	switch pub.Curve() {
	case CurveSecp256k1:
		return []Locator{ByKeccak(pub.keccak), ByHash160(pub.hash160)}
	case CurveEd25519:
		return []Locator{ByEd25519(pub.Ed25519())}
	}
	return nil
}

// TaprootLocator returns the locator of a secp256k1 key's BIP-86 address. It takes a point
// multiplication and costs about fifty times as much as the others: a backend with many keys
// should compute it at the first look-up by taproot.
func TaprootLocator(pub PublicKey) (Locator, error) {
	outputKey, err := KeyPath().OutputKey(pub)
	if err != nil {
		return Locator{}, err
	}
	return ByTaproot(outputKey), nil
}

// NestedLocator returns the locator of a secp256k1 key's P2SH-P2WPKH address (BIP-49). A backend
// with many keys can compute it at the first look-up of this kind.
func NestedLocator(pub PublicKey) (Locator, error) {
	if pub.Curve() != CurveSecp256k1 {
		return Locator{}, fmt.Errorf("%w: %v has no P2SH-P2WPKH address", ErrUnsupported, pub.Curve())
	}
	witness := append([]byte{0, 20}, pub.hash160[:]...) // OP_0, then the hash
	return ByNested(hash160(witness)), nil
}
