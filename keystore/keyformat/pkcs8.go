package keyformat

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
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

// inside reads an element and returns a reader of its content with the same origin of offsets.
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

// Types of PEM blocks (RFC 7468).
const (
	pemPlain     = "PRIVATE KEY"
	pemEncrypted = "ENCRYPTED PRIVATE KEY"
)

// ParsePKCS8 reads a PKCS#8 private key in PEM, on secp256k1 or Ed25519, encrypted (PBES2) or
// not. If the key is not encrypted, the password is ignored. If it is encrypted and the
// password is empty, the error wraps ErrPasswordMissing.
func ParsePKCS8(file, password []byte) (Key, error) {
	block, err := onlyBlock(file)
	if err != nil {
		return Key{}, err
	}
	defer keystore.Wipe(block.Bytes)
	switch block.Type {
	case pemPlain:
		return parsePrivateKeyInfo(block.Bytes)
	case pemEncrypted:
		if len(password) == 0 {
			return Key{}, fmt.Errorf("pkcs8: %w", ErrPasswordMissing)
		}
		return parseEncryptedPrivateKeyInfo(block.Bytes, password)
	}
	if block.Type == "OPENSSH PRIVATE KEY" {
		return Key{},
			fmt.Errorf("pkcs8: %w: the PEM block is in OpenSSH's own format: convert a copy to PKCS#8 with "+
				"'ssh-keygen -p -m pkcs8 -f COPY' (OpenSSH 9.6 or newer for Ed25519)", ErrUnsupported)
	}
	return Key{}, fmt.Errorf("pkcs8: %w: the PEM block is a %.32q: convert it to PKCS#8 with 'openssl pkcs8 -topk8'",
		ErrUnsupported, block.Type)
}

// onlyBlock returns the only PEM block of a file. Unlike encoding/pem, it accepts nothing but
// white space before the block.
func onlyBlock(file []byte) (*pem.Block, error) {
	if len(file) > MaxSize {
		return nil, fmt.Errorf("pkcs8: %w: %d bytes, the limit is %d", ErrMalformed, len(file), MaxSize)
	}
	trimmed := bytes.TrimSpace(file)
	if !bytes.HasPrefix(trimmed, []byte("-----BEGIN ")) {
		return nil, fmt.Errorf("pkcs8: %w: expected a PEM block, -----BEGIN PRIVATE KEY-----, at byte 0", ErrMalformed)
	}
	block, rest := pem.Decode(trimmed)
	switch {
	case block == nil:
		return nil, fmt.Errorf("pkcs8: %w: the PEM block does not end, or is not base64", ErrMalformed)
	case len(rest) > 0:
		keystore.Wipe(block.Bytes)
		return nil,
			fmt.Errorf("pkcs8: %w: at byte %d: more than one PEM block, or text after it: keep only the private key",
				ErrMalformed, len(trimmed)-len(rest))
	case len(block.Headers) > 0:
		keystore.Wipe(block.Bytes)
		return nil,
			fmt.Errorf("pkcs8: %w: the PEM block has headers, which openssl wrote before PKCS#8: convert it with "+
				"'openssl pkcs8 -topk8'", ErrUnsupported)
	case bytes.Count(trimmed, []byte("-----BEGIN ")) > 1:
		keystore.Wipe(block.Bytes)
		return nil, fmt.Errorf("pkcs8: %w: a PEM block begins inside another", ErrMalformed)
	}
	return block, nil
}

// PKCS8 returns the key as a PKCS#8 PEM file: encrypted with PBES2
// (PBKDF2-HMAC-SHA-256, AES-256-CBC) if there is a password, plain if not.
func (k Key) PKCS8(password []byte) ([]byte, error) {
	infos := map[keystore.Curve]cryptobyte.BuilderContinuation{
		keystore.CurveSecp256k1: k.secp256k1Info, keystore.CurveEd25519: k.ed25519Info,
	}
	if infos[k.Curve] == nil {
		return nil, fmt.Errorf("pkcs8: %w: a key on %v", ErrUnsupported, k.Curve)
	}
	der, err := build(infos[k.Curve])
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(der)
	if len(password) == 0 {
		return pem.EncodeToMemory(&pem.Block{Type: pemPlain, Bytes: der}), nil
	}
	encrypted, err := encryptPrivateKeyInfo(der, password)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemEncrypted, Bytes: encrypted}), nil
}

// maxInfo is enough for any key, so that the builder's buffer never grows, which would leave
// a copy of the secret behind.
const maxInfo = 512

func build(content cryptobyte.BuilderContinuation) ([]byte, error) {
	b := cryptobyte.NewFixedBuilder(make([]byte, 0, maxInfo))
	b.AddASN1(tag.SEQUENCE, content)
	return b.Bytes()
}

func (k Key) secp256k1Info(b *cryptobyte.Builder) {
	b.AddASN1Int64(0)
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidECPublicKey)
		b.AddASN1ObjectIdentifier(oidSecp256k1)
	})
	b.AddASN1(tag.OCTET_STRING, func(b *cryptobyte.Builder) {
		b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(1)
			b.AddASN1OctetString(k.Secret)
			b.AddASN1(tag.Tag(1).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) {
				point := k.PublicKey.Uncompressed()
				b.AddASN1BitString(point[:])
			})
		})
	})
}

func (k Key) ed25519Info(b *cryptobyte.Builder) {
	b.AddASN1Int64(0)
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidEd25519) })
	b.AddASN1(tag.OCTET_STRING, func(b *cryptobyte.Builder) { b.AddASN1OctetString(k.Secret) })
}
