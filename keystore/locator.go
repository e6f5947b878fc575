package keystore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// LocatorKind says what a Locator holds.
type LocatorKind uint8

// The kinds of locators.
const (
	LocateByID      LocatorKind = iota + 1 // 16 bytes of a UUID; of any other id its SHA-256
	LocateByKeccak                         // last 20 bytes of Keccak-256 of x ‖ y: Ethereum, Tron, Tempo
	LocateByHash160                        // RIPEMD-160 of SHA-256 of the compressed point: Bitcoin
	LocateByTaproot                        // x-only output key of BIP-86 (tweaked, no script): Bitcoin
	LocateByEd25519                        // the 32-byte public key: Solana
)

// Locator is where a key is looked for: a kind and up to 32 bytes. It is a
// value, comparable with ==, made to be the key of a map: a store of a million
// keys indexes these, not strings.
type Locator struct {
	kind LocatorKind
	data [32]byte
}

// ByID locates a key by its id. A UUID is located by its 16 bytes, in whatever
// case it is written; any other id by its SHA-256.
func ByID(id string) Locator {
	if len(id) == 36 {
		if parsed, err := uuid.Parse(id); err == nil {
			return newLocator(LocateByID, parsed[:])
		}
	}
	digest := sha256.Sum256([]byte(id))
	return newLocator(LocateByID, digest[:])
}

// ByKeccak locates a secp256k1 key by the 20 bytes of its Ethereum address.
func ByKeccak(address [20]byte) Locator { return newLocator(LocateByKeccak, address[:]) }

// ByHash160 locates a secp256k1 key by the hash160 of its compressed point.
func ByHash160(hash [20]byte) Locator { return newLocator(LocateByHash160, hash[:]) }

// ByTaproot locates a secp256k1 key by the x-only output key of its BIP-86
// address.
func ByTaproot(outputKey [32]byte) Locator { return newLocator(LocateByTaproot, outputKey[:]) }

// ByEd25519 locates an Ed25519 key by its public key.
func ByEd25519(publicKey [32]byte) Locator { return newLocator(LocateByEd25519, publicKey[:]) }

func newLocator(kind LocatorKind, data []byte) Locator {
	at := Locator{kind: kind}
	copy(at.data[:], data)
	return at
}

// UUID returns the id of a key that is located by a UUID.
func (l Locator) UUID() (id uuid.UUID, ok bool) {
	id = uuid.UUID(l.data[:16])
	return id, l.kind == LocateByID && [16]byte(l.data[16:]) == [16]byte{}
}

// Kind returns what the locator holds.
func (l Locator) Kind() LocatorKind { return l.kind }

// String returns the locator for a log line.
func (l Locator) String() string {
	size := len(l.data)
	if l.kind == LocateByKeccak || l.kind == LocateByHash160 {
		size = 20
	}
	return fmt.Sprintf("%d:%s", l.kind, hex.EncodeToString(l.data[:size]))
}

// Locators returns where a key is found by its public key: by every address it
// has on any chain, except for taproot, which see [TaprootLocator].
func Locators(pub PublicKey) []Locator {
	switch pub.Curve() {
	case CurveSecp256k1:
		return []Locator{ByKeccak(pub.keccak), ByHash160(pub.hash160)}
	case CurveEd25519:
		return []Locator{ByEd25519(pub.Ed25519())}
	}
	return nil
}

// TaprootLocator returns the locator of a secp256k1 key's BIP-86 address. It
// costs a point multiplication, some fifty times as much as the others: a
// backend with many keys computes it at the first look-up by
// taproot.
func TaprootLocator(pub PublicKey) (Locator, error) {
	outputKey, err := KeyPath().OutputKey(pub)
	if err != nil {
		return Locator{}, err
	}
	return ByTaproot(outputKey), nil
}
