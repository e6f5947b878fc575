package keyformat

import (
	"encoding/asn1"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/keystore"
)

var (
	oidECPublicKey = asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}
	oidSecp256k1   = asn1.ObjectIdentifier{1, 3, 132, 0, 10}
	oidEd25519     = asn1.ObjectIdentifier{1, 3, 101, 112}
)

// der reads DER and tracks its offset.
type der struct {
	cryptobyte.String
	whole int
}

func newDER(content []byte) *der { return &der{String: content, whole: len(content)} }

// at returns the offset of the next element.
func (d *der) at() int { return d.whole - len(d.String) }

func (d *der) errorf(field, format string, args ...any) error {
	return malformedAt(d.at(), field, format, args...)
}

func malformedAt(offset int, field, format string, args ...any) error {
	return fmt.Errorf("pkcs8: %w: %s at byte %d: %w", ErrMalformed, field, offset, fmt.Errorf(format, args...))
}

// inside reads an element and returns a reader of its content with the same origin of
// offsets.
func (d *der) inside(field string, kind tag.Tag) (*der, error) {
	var content cryptobyte.String
	if !d.ReadASN1(&content, kind) {
		return nil, d.errorf(field, "expected a DER element with tag %#02x", uint8(kind))
	}
	return &der{String: content, whole: d.at()}, nil
}

func (d *der) end(field string) error {
	if !d.Empty() {
		return d.errorf(field, "%d bytes left over", len(d.String))
	}
	return nil
}

func (d *der) number(field string) (uint64, error) {
	offset := d.at()
	var number uint64
	if !d.ReadASN1Integer(&number) {
		return 0, malformedAt(offset, field, "expected a natural number")
	}
	return number, nil
}

// algorithm reads an AlgorithmIdentifier up to its parameters.
func (d *der) algorithm(field string) (oid asn1.ObjectIdentifier, parameters *der, err error) {
	parameters, err = d.inside(field, tag.SEQUENCE)
	if err != nil {
		return nil, nil, err
	}
	if !parameters.ReadASN1ObjectIdentifier(&oid) {
		return nil, nil, parameters.errorf(field, "expected an object identifier")
	}
	return oid, parameters, nil
}

// parsePrivateKeyInfo reads (RFC 5958, RFC 5915, RFC 8410)
//
//	SEQUENCE
//	  INTEGER 0 or 1                    version: 1 if there is a publicKey
//	  SEQUENCE                          privateKeyAlgorithm
//	    OID id-ecPublicKey, OID secp256k1 | OID Ed25519
//	  OCTET STRING                      privateKey: an ECPrivateKey | an OCTET STRING of 32 bytes
//	  [0] SET                           attributes, optional, ignored
//	  [1] BIT STRING                    publicKey, in version 1
func parsePrivateKeyInfo(content []byte) (Key, error) {
	outer := newDER(content)
	info, err := outer.inside("PrivateKeyInfo", tag.SEQUENCE)
	if err != nil {
		return Key{}, err
	}
	if err := outer.end("PrivateKeyInfo"); err != nil {
		return Key{}, err
	}
	offset := info.at()
	version, err := info.number("version")
	if err != nil {
		return Key{}, err
	}
	if version > 1 {
		return Key{}, malformedAt(offset, "version", "%d, want 0 or 1", version)
	}
	curve, err := readCurve(info)
	if err != nil {
		return Key{}, err
	}
	inner, err := info.inside("privateKey", tag.OCTET_STRING)
	if err != nil {
		return Key{}, err
	}
	claimed, err := readRest(info, version)
	if err != nil {
		return Key{}, err
	}
	if curve == keystore.CurveEd25519 {
		seed, err := inner.inside("CurvePrivateKey", tag.OCTET_STRING)
		if err != nil {
			return Key{}, err
		}
		if err := inner.end("CurvePrivateKey"); err != nil {
			return Key{}, err
		}
		return claimedKey(keystore.CurveEd25519, seed, "CurvePrivateKey", claimed)
	}
	return readECPrivateKey(inner, claimed)
}

func readCurve(info *der) (keystore.Curve, error) {
	oid, parameters, err := info.algorithm("privateKeyAlgorithm")
	if err != nil {
		return 0, err
	}
	curve := keystore.CurveEd25519
	switch {
	case oid.Equal(oidECPublicKey):
		curve = keystore.CurveSecp256k1
		var name asn1.ObjectIdentifier
		if !parameters.ReadASN1ObjectIdentifier(&name) {
			return 0, parameters.errorf("privateKeyAlgorithm.parameters", "expected a named curve: explicit parameters are not supported")
		}
		if !name.Equal(oidSecp256k1) {
			return 0, fmt.Errorf("pkcs8: %w: a key on the curve %v: only secp256k1 (%v) and Ed25519 are supported",
				ErrUnsupported, name, oidSecp256k1)
		}
	case !oid.Equal(oidEd25519):
		return 0, fmt.Errorf("pkcs8: %w: a key of the algorithm %v: only secp256k1 and Ed25519 are supported", ErrUnsupported, oid)
	}
	return curve, parameters.end("privateKeyAlgorithm")
}

// readRest reads the optional elements after the private key, and returns the public key if
// there is one.
func readRest(info *der, version uint64) (public []byte, err error) {
	attributes := tag.Tag(0).Constructed().ContextSpecific()
	if info.PeekASN1Tag(attributes) && !info.SkipASN1(attributes) {
		return nil, info.errorf("attributes", "malformed")
	}
	if version == 1 {
		bits, err := info.inside("publicKey", tag.Tag(1).ContextSpecific())
		if err != nil {
			return nil, err
		}
		if public, err = wholeBits(bits, "publicKey"); err != nil {
			return nil, err
		}
	}
	return public, info.end("PrivateKeyInfo")
}

// wholeBits returns the bytes of a BIT STRING without unused bits: they follow a zero byte.
func wholeBits(bits *der, field string) ([]byte, error) {
	var unused uint8
	if !bits.ReadUint8(&unused) || unused != 0 || bits.Empty() {
		return nil, bits.errorf(field, "expected a string of whole bytes")
	}
	return bits.String, nil
}

// readECPrivateKey reads (RFC 5915)
//
//	SEQUENCE
//	  INTEGER 1
//	  OCTET STRING                      32 bytes, big-endian
//	  [0] OID secp256k1                 optional
//	  [1] BIT STRING                    the public key, optional
func readECPrivateKey(outer *der, claimed []byte) (Key, error) {
	inner, err := outer.inside("ECPrivateKey", tag.SEQUENCE)
	if err != nil {
		return Key{}, err
	}
	if err := outer.end("ECPrivateKey"); err != nil {
		return Key{}, err
	}
	offset := inner.at()
	version, err := inner.number("ECPrivateKey.version")
	if err != nil {
		return Key{}, err
	}
	if version != 1 {
		return Key{}, malformedAt(offset, "ECPrivateKey.version", "%d, want 1", version)
	}
	secret, err := inner.inside("ECPrivateKey.privateKey", tag.OCTET_STRING)
	if err != nil {
		return Key{}, err
	}
	if err := readParameters(inner); err != nil {
		return Key{}, err
	}
	own, err := readPublicKey(inner)
	if err != nil {
		return Key{}, err
	}
	if err := inner.end("ECPrivateKey"); err != nil {
		return Key{}, err
	}
	return claimedKey(keystore.CurveSecp256k1, secret, "ECPrivateKey.privateKey", own, claimed)
}

func readParameters(inner *der) error {
	kind := tag.Tag(0).Constructed().ContextSpecific()
	if !inner.PeekASN1Tag(kind) {
		return nil
	}
	parameters, err := inner.inside("ECPrivateKey.parameters", kind)
	if err != nil {
		return err
	}
	var name asn1.ObjectIdentifier
	if !parameters.ReadASN1ObjectIdentifier(&name) || !name.Equal(oidSecp256k1) {
		return parameters.errorf("ECPrivateKey.parameters", "expected secp256k1, as in privateKeyAlgorithm")
	}
	return parameters.end("ECPrivateKey.parameters")
}

func readPublicKey(inner *der) ([]byte, error) {
	const field = "ECPrivateKey.publicKey"
	kind := tag.Tag(1).Constructed().ContextSpecific()
	if !inner.PeekASN1Tag(kind) {
		return nil, nil
	}
	wrapper, err := inner.inside(field, kind)
	if err != nil {
		return nil, err
	}
	bits, err := wrapper.inside(field, tag.BIT_STRING)
	if err != nil {
		return nil, err
	}
	if err := wrapper.end(field); err != nil {
		return nil, err
	}
	return wholeBits(bits, field)
}

// claimedKey returns the key after comparing it with the public keys in the file.
func claimedKey(curve keystore.Curve, secret *der, field string, claims ...[]byte) (Key, error) {
	if len(secret.String) != keystore.SecretSize {
		return Key{}, secret.errorf(field, "%d bytes, want %d", len(secret.String), keystore.SecretSize)
	}
	key, err := NewKey(curve, secret.String)
	if err != nil {
		return Key{}, fmt.Errorf("pkcs8: %w", err)
	}
	for _, claim := range claims {
		if claim == nil {
			continue
		}
		if public, err := keystore.ParsePublicKey(curve, claim); err != nil || public != key.PublicKey {
			key.Wipe()
			return Key{}, fmt.Errorf("pkcs8: publicKey: %w", ErrOtherKey)
		}
	}
	return key, nil
}
