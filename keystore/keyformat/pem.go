package keyformat

import (
	"bytes"
	"encoding/pem"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
)

// Types of PEM blocks (RFC 7468).
const (
	pemPlain     = "PRIVATE KEY"
	pemEncrypted = "ENCRYPTED PRIVATE KEY"
)

// ParsePKCS8 reads a PKCS#8 private key in PEM: on secp256k1 or Ed25519,
// encrypted (PBES2) or not. The password is not looked at if it is not; if it is
// and there is none, the error wraps ErrPasswordMissing.
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
		return Key{}, fmt.Errorf("pkcs8: %w: the PEM block is in OpenSSH's own format: turn a copy into PKCS#8 with 'ssh-keygen -p -m pkcs8 -f COPY' (OpenSSH 9.6 or newer for Ed25519)", ErrUnsupported)
	}
	return Key{}, fmt.Errorf("pkcs8: %w: the PEM block is a %.32q: turn it into PKCS#8 with 'openssl pkcs8 -topk8'", ErrUnsupported, block.Type)
}

// onlyBlock returns the one PEM block of a file. encoding/pem passes over
// whatever stands before a block: here nothing but white space may.
func onlyBlock(file []byte) (*pem.Block, error) {
	if len(file) > MaxSize {
		return nil, fmt.Errorf("pkcs8: %w: %d bytes, at most %d are read", ErrMalformed, len(file), MaxSize)
	}
	trimmed := bytes.TrimSpace(file)
	if !bytes.HasPrefix(trimmed, []byte("-----BEGIN ")) {
		return nil, fmt.Errorf("pkcs8: %w: a PEM block, -----BEGIN PRIVATE KEY-----, is expected at byte 0", ErrMalformed)
	}
	block, rest := pem.Decode(trimmed)
	switch {
	case block == nil:
		return nil, fmt.Errorf("pkcs8: %w: the PEM block does not end, or is not base64", ErrMalformed)
	case len(rest) > 0:
		keystore.Wipe(block.Bytes)
		return nil, fmt.Errorf("pkcs8: %w: at byte %d: more than one PEM block, or text behind it: keep the private key alone", ErrMalformed, len(trimmed)-len(rest))
	case len(block.Headers) > 0:
		keystore.Wipe(block.Bytes)
		return nil, fmt.Errorf("pkcs8: %w: the PEM block has headers, as openssl wrote before PKCS#8: use 'openssl pkcs8 -topk8'", ErrUnsupported)
	case bytes.Count(trimmed, []byte("-----BEGIN ")) > 1:
		keystore.Wipe(block.Bytes)
		return nil, fmt.Errorf("pkcs8: %w: a PEM block begins inside another", ErrMalformed)
	}
	return block, nil
}

// PKCS8 returns the key as a PKCS#8 PEM file: encrypted with PBES2
// (PBKDF2-HMAC-SHA-256, AES-256-CBC) if there is a password, plain if not.
func (k Key) PKCS8(password []byte) ([]byte, error) {
	der, err := k.privateKeyInfo()
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
