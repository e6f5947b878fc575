package keyformat

import (
	"bytes"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/keystore"
)

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
