package keyformat

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/keystore"
)

// WIF is a key in the wallet import format of Bitcoin, base58check of
//
//	version     1 byte: 80 mainnet, ef all test networks
//	secret      32 bytes, big-endian
//	compressed  1 byte 01 if addresses use the compressed public key, otherwise absent
type WIF struct {
	Key          Key
	TestNetwork  bool
	Uncompressed bool // the P2PKH address is that of the uncompressed public key, as before 2012
}

const (
	wifMainnet  = 0x80
	wifTestnets = 0xef
	maxWIF      = 52 // characters
)

// ParseWIF reads a key in the wallet import format.
func ParseWIF(text []byte) (w WIF, err error) {
	if kind, key, found := bytes.Cut(text, []byte(":")); found && bytes.HasPrefix(kind, []byte("p2")) {
		return w,
			fmt.Errorf("wif: %w: Electrum's form with the kind of address, %.12s, in front: import the %d "+
				"characters after the colon", ErrMalformed, kind, len(key))
	}
	if bytes.HasPrefix(text, []byte("6P")) {
		return w, fmt.Errorf("wif: %w: a key that a passphrase encrypts (BIP-38): decrypt it with the program that made it", ErrUnsupported)
	}
	if len(text) > maxWIF {
		return w, fmt.Errorf("wif: %w: %d characters, at most %d", ErrMalformed, len(text), maxWIF)
	}
	payload, version, err := base58.CheckDecode(string(text))
	defer keystore.Wipe(payload)
	switch {
	case errors.Is(err, base58.ErrChecksum):
		return w, fmt.Errorf("wif: %w: the checksum is wrong: a character is mistyped or missing", ErrMalformed)
	case err != nil:
		return w, fmt.Errorf("wif: %w: not base58check", ErrMalformed)
	case version != wifMainnet && version != wifTestnets:
		return w, fmt.Errorf("wif: %w: version byte %#02x, want 0x80 (mainnet) or 0xef (test networks)", ErrMalformed, version)
	}
	w.TestNetwork = version == wifTestnets
	switch {
	case len(payload) == keystore.SecretSize:
		w.Uncompressed = true
	case len(payload) != keystore.SecretSize+1:
		return w, fmt.Errorf("wif: %w: %d bytes, want 32, or 33 with the flag for compressed keys", ErrMalformed, len(payload))
	case payload[keystore.SecretSize] != 1:
		return w, fmt.Errorf("wif: %w: byte 33 is %#02x, want 0x01, the flag for compressed keys", ErrMalformed,
			payload[keystore.SecretSize])
	}
	if w.Key, err = NewKey(keystore.CurveSecp256k1, payload[:keystore.SecretSize]); err != nil {
		return WIF{}, fmt.Errorf("wif: %w", err)
	}
	return w, nil
}

// Format returns the key in the wallet import format.
func (w WIF) Format() ([]byte, error) {
	if err := w.Key.on(keystore.CurveSecp256k1, "wif"); err != nil {
		return nil, err
	}
	payload := make([]byte, keystore.SecretSize+1)
	defer keystore.Wipe(payload)
	copy(payload, w.Key.Secret)
	payload[keystore.SecretSize] = 1
	if w.Uncompressed {
		payload = payload[:keystore.SecretSize]
	}
	version := byte(wifMainnet)
	if w.TestNetwork {
		version = wifTestnets
	}
	return []byte(base58.CheckEncode(payload, version)), nil
}
