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

// der reads DER and tracks its offset. Readers inside it have the same fault.
type der struct {
	cryptobyte.String
	whole int
	*fault
}

func newDER(content []byte) *der { return &der{content, len(content), &fault{}} }

// at returns the offset of the next element.
func (d *der) at() int { return d.whole - len(d.String) }

func (d *der) errorf(field, format string, args ...any) { d.errorAt(d.at(), field, format, args...) }

func (d *der) errorAt(offset int, field, format string, args ...any) {
	d.fail(fmt.Errorf("pkcs8: %w: %s at byte %d: %w", ErrMalformed, field, offset, fmt.Errorf(format, args...)))
}

// inside reads an element and returns a reader of its content with the same origin of
// offsets.
func (d *der) inside(field string, kind tag.Tag) *der {
	var content cryptobyte.String
	if !d.ReadASN1(&content, kind) {
		d.errorf(field, "expected a DER element with tag %#02x", uint8(kind))
	}
	return &der{content, d.at(), d.fault}
}

func (d *der) end(field string) {
	if !d.Empty() {
		d.errorf(field, "%d bytes left over", len(d.String))
	}
}

func (d *der) number(field string) (number uint64) {
	offset := d.at()
	if !d.ReadASN1Integer(&number) {
		d.errorAt(offset, field, "expected a natural number")
	}
	return number
}

// algorithm reads an AlgorithmIdentifier up to its parameters.
func (d *der) algorithm(field string) (oid asn1.ObjectIdentifier, parameters *der) {
	parameters = d.inside(field, tag.SEQUENCE)
	if !parameters.ReadASN1ObjectIdentifier(&oid) {
		parameters.errorf(field, "expected an object identifier")
	}
	return oid, parameters
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
	info := outer.inside("PrivateKeyInfo", tag.SEQUENCE)
	outer.end("PrivateKeyInfo")
	offset := info.at()
	version := info.number("version")
	if version > 1 {
		info.errorAt(offset, "version", "%d, want 0 or 1", version)
	}
	curve := readCurve(info)
	inner := info.inside("privateKey", tag.OCTET_STRING)
	if attributes := tag.Tag(0).Constructed().ContextSpecific(); info.PeekASN1Tag(attributes) && !info.SkipASN1(attributes) {
		info.errorf("attributes", "malformed")
	}
	var claimed []byte
	if version == 1 {
		claimed = wholeBits(info.inside("publicKey", tag.Tag(1).ContextSpecific()), "publicKey")
	}
	info.end("PrivateKeyInfo")
	if curve == keystore.CurveEd25519 {
		seed := inner.inside("CurvePrivateKey", tag.OCTET_STRING)
		inner.end("CurvePrivateKey")
		return claimedKey(keystore.CurveEd25519, seed, "CurvePrivateKey", claimed)
	}
	return readECPrivateKey(inner, claimed)
}

func readCurve(info *der) keystore.Curve {
	oid, parameters := info.algorithm("privateKeyAlgorithm")
	curve := keystore.CurveEd25519
	switch {
	case oid.Equal(oidECPublicKey):
		curve = keystore.CurveSecp256k1
		var name asn1.ObjectIdentifier
		if !parameters.ReadASN1ObjectIdentifier(&name) {
			parameters.errorf("privateKeyAlgorithm.parameters",
				"expected a named curve: explicit parameters are not supported")
		}
		if !name.Equal(oidSecp256k1) {
			info.fail(fmt.Errorf("pkcs8: %w: a key on the curve %v: only secp256k1 (%v) and Ed25519 are supported",
				ErrUnsupported, name, oidSecp256k1))
		}
	case !oid.Equal(oidEd25519):
		info.fail(fmt.Errorf("pkcs8: %w: a key of the algorithm %v: only secp256k1 and Ed25519 are supported",
			ErrUnsupported, oid))
	}
	parameters.end("privateKeyAlgorithm")
	return curve
}

// wholeBits returns the bytes of a BIT STRING without unused bits: they follow a zero byte.
func wholeBits(bits *der, field string) []byte {
	var unused uint8
	if !bits.ReadUint8(&unused) || unused != 0 || bits.Empty() {
		bits.errorf(field, "expected a string of whole bytes")
	}
	return bits.String
}

// readECPrivateKey reads (RFC 5915)
//
//	SEQUENCE
//	  INTEGER 1
//	  OCTET STRING                      32 bytes, big-endian
//	  [0] OID secp256k1                 optional
//	  [1] BIT STRING                    the public key, optional
func readECPrivateKey(outer *der, claimed []byte) (Key, error) {
	inner := outer.inside("ECPrivateKey", tag.SEQUENCE)
	outer.end("ECPrivateKey")
	offset := inner.at()
	if version := inner.number("ECPrivateKey.version"); version != 1 {
		inner.errorAt(offset, "ECPrivateKey.version", "%d, want 1", version)
	}
	secret := inner.inside("ECPrivateKey.privateKey", tag.OCTET_STRING)
	if kind := tag.Tag(0).Constructed().ContextSpecific(); inner.PeekASN1Tag(kind) {
		parameters := inner.inside("ECPrivateKey.parameters", kind)
		var name asn1.ObjectIdentifier
		if !parameters.ReadASN1ObjectIdentifier(&name) || !name.Equal(oidSecp256k1) {
			parameters.errorf("ECPrivateKey.parameters", "expected secp256k1, as in privateKeyAlgorithm")
		}
		parameters.end("ECPrivateKey.parameters")
	}
	var own []byte
	if kind := tag.Tag(1).Constructed().ContextSpecific(); inner.PeekASN1Tag(kind) {
		const field = "ECPrivateKey.publicKey"
		wrapper := inner.inside(field, kind)
		bits := wrapper.inside(field, tag.BIT_STRING)
		wrapper.end(field)
		own = wholeBits(bits, field)
	}
	inner.end("ECPrivateKey")
	return claimedKey(keystore.CurveSecp256k1, secret, "ECPrivateKey.privateKey", own, claimed)
}

// claimedKey returns the key after comparing it with the public keys in the file.
func claimedKey(curve keystore.Curve, secret *der, field string, claims ...[]byte) (Key, error) {
	if len(secret.String) != keystore.SecretSize {
		secret.errorf(field, "%d bytes, want %d", len(secret.String), keystore.SecretSize)
	}
	if secret.err != nil {
		return Key{}, secret.err
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
