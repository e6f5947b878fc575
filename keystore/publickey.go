package keystore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/oasisprotocol/curve25519-voi/curve"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // Bitcoin's addresses are made of it

	"github.com/countersign-dev/countersign/internal/secret"
)

// PublicKey is the public half of a key: a value, comparable with ==. The zero PublicKey is not
// a key.
type PublicKey struct {
	curve Curve

	// Hashes of a secp256k1 point that addresses are made of, computed once.
	keccak  [20]byte
	hash160 [20]byte

	// secp256k1: the uncompressed point 04 ‖ x ‖ y. Ed25519: the 32-byte encoding, the rest zero.
	point [65]byte
}

// ParsePublicKey reads a public key and checks that it is a point of the curve. On secp256k1 it
// accepts the SEC 1 forms of 33 (compressed) and 65 bytes (uncompressed); on Ed25519 the 32
// bytes of RFC 8032, in canonical form and not of small order.
func ParsePublicKey(curve Curve, encoded []byte) (PublicKey, error) {
	switch curve {
	case CurveSecp256k1:
		return parseSecp256k1(encoded)
	case CurveEd25519:
		return parseEd25519(encoded)
	}
	return PublicKey{}, fmt.Errorf("public key: unknown curve %v", curve)
}

func parseSecp256k1(encoded []byte) (PublicKey, error) {
	pub := PublicKey{curve: CurveSecp256k1}
	switch len(encoded) {
	case 33:
		point, err := crypto.DecompressPubkey(encoded)
		if err != nil {
			return PublicKey{}, errors.New("secp256k1 public key: not a point of the curve")
		}
		copy(pub.point[:], crypto.FromECDSAPub(point))
	case 65:
		if _, err := crypto.UnmarshalPubkey(encoded); err != nil {
			return PublicKey{}, errors.New("secp256k1 public key: not a point of the curve")
		}
		copy(pub.point[:], encoded)
	default:
		return PublicKey{}, fmt.Errorf("secp256k1 public key: %d bytes, want 33 or 65", len(encoded))
	}
	digest, compressed := crypto.Keccak256(pub.point[1:]), pub.Compressed()
	pub.keccak = [20]byte(digest[12:])
	pub.hash160 = hash160(compressed[:])
	return pub, nil
}

// parseEd25519 accepts only the canonical encoding of a point. Points of small order belong to
// no secret, and signatures for them verify for many messages.
func parseEd25519(encoded []byte) (PublicKey, error) {
	var compressed curve.CompressedEdwardsY
	if len(encoded) != len(compressed) {
		return PublicKey{}, fmt.Errorf("ed25519 public key: %d bytes, want 32", len(encoded))
	}
	copy(compressed[:], encoded)
	var point curve.EdwardsPoint
	if _, err := point.SetCompressedY(&compressed); err != nil || !compressed.IsCanonicalVartime() {
		return PublicKey{}, errors.New("ed25519 public key: not a point of the curve")
	}
	if point.IsSmallOrder() {
		return PublicKey{}, errors.New("ed25519 public key: a point of small order")
	}
	pub := PublicKey{curve: CurveEd25519}
	copy(pub.point[:], encoded)
	return pub, nil
}

// IsZero reports whether p is the zero PublicKey.
func (p PublicKey) IsZero() bool { return p.curve == 0 }

// Curve returns the key's curve, 0 for the zero PublicKey.
func (p PublicKey) Curve() Curve { return p.curve }

// Bytes returns the usual encoding: 33 bytes compressed on secp256k1 (SEC 1),
// 32 bytes on Ed25519 (RFC 8032). The caller owns the slice.
func (p PublicKey) Bytes() []byte {
	switch p.curve {
	case CurveSecp256k1:
		compressed := p.Compressed()
		return compressed[:]
	case CurveEd25519:
		raw := p.Ed25519()
		return raw[:]
	}
	return nil
}

// Compressed returns the SEC 1 compressed point of a secp256k1 key.
func (p PublicKey) Compressed() (compressed [33]byte) {
	compressed[0] = 2 + p.point[64]&1
	copy(compressed[1:], p.point[1:33])
	return compressed
}

// Uncompressed returns the SEC 1 uncompressed point 04 ‖ x ‖ y of a secp256k1 key.
func (p PublicKey) Uncompressed() [65]byte { return p.point }

// XOnly returns the x coordinate of a secp256k1 key (BIP-340).
func (p PublicKey) XOnly() (x [32]byte) {
	copy(x[:], p.point[1:33])
	return x
}

// KeccakAddress returns the last 20 bytes of Keccak-256(x ‖ y) of a secp256k1 key: its address on
// Ethereum and Tempo, and with the prefix 0x41 on Tron.
func (p PublicKey) KeccakAddress() [20]byte { return p.keccak }

// Hash160 returns RIPEMD-160(SHA-256(compressed point)) of a secp256k1 key.
func (p PublicKey) Hash160() [20]byte { return p.hash160 }

// Ed25519 returns the 32-byte encoding of an Ed25519 key.
func (p PublicKey) Ed25519() (raw [32]byte) {
	copy(raw[:], p.point[:32])
	return raw
}

// String returns Bytes in hex.
func (p PublicKey) String() string { return hex.EncodeToString(p.Bytes()) }

// hash160 returns RIPEMD-160(SHA-256(data)). btcd has it in a package that links its networks.
func hash160(data []byte) (hash [20]byte) {
	inner, outer := sha256.Sum256(data), ripemd160.New()
	_, _ = outer.Write(inner[:]) // fails never
	outer.Sum(hash[:0])
	return hash
}

// Curve is the curve of a key. Its text form is the API's name.
type Curve uint8

// The curves of signing keys. The zero Curve is none of them.
const (
	CurveSecp256k1 Curve = iota + 1 // SEC 2; secrets are 32-byte big-endian scalars
	CurveEd25519                    // RFC 8032; secrets are 32-byte seeds
)

// SecretSize is the length in bytes of a key's secret, on either curve.
const SecretSize = secret.Size

var curveNames = map[Curve]string{
	CurveSecp256k1: "CURVE_SECP256K1",
	CurveEd25519:   "CURVE_ED25519",
}

// ParseCurve reads the API's name of a curve, such as CURVE_SECP256K1.
func ParseCurve(name string) (Curve, error) {
	for curve, curveName := range curveNames {
		if name == curveName {
			return curve, nil
		}
	}
	return 0, fmt.Errorf("unknown curve %q: use CURVE_SECP256K1 or CURVE_ED25519", name)
}

// String returns the API's name for the curve.
func (c Curve) String() string {
	if name, ok := curveNames[c]; ok {
		return name
	}
	return fmt.Sprintf("Curve(%d)", uint8(c))
}

// MarshalText returns the API's name for the curve.
func (c Curve) MarshalText() ([]byte, error) {
	if _, ok := curveNames[c]; !ok {
		return nil, fmt.Errorf("keystore: %v has no name", c)
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (c *Curve) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCurve(string(text))
	return err
}
