package keyformat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/keystore"
)

// solanaSize is the size of a keypair in bytes: seed ‖ public key.
const solanaSize = 64

// maxSolanaBase58 is the maximum number of characters of solanaSize bytes.
const maxSolanaBase58 = 88

// ParseSolana reads a keypair file of the Solana command line, such as id.json: a JSON array of 64
// numbers from 0 to 255, the 32 bytes of the Ed25519 seed and the 32 of its public key.
func ParseSolana(text []byte) (Key, error) {
	var pair [solanaSize]byte
	defer keystore.Wipe(pair[:])
	if offset, err := readNumbers(text, pair[:]); err != nil {
		return Key{}, fmt.Errorf("solana keypair: %w: at byte %d: %w", ErrMalformed, offset, err)
	}
	return keyOfPair("solana keypair", pair[:])
}

// keyOfPair returns the key of seed ‖ public key.
func keyOfPair(format string, pair []byte) (Key, error) {
	key, err := NewKey(keystore.CurveEd25519, pair[:keystore.SecretSize])
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", format, err)
	}
	if public := key.PublicKey.Ed25519(); !bytes.Equal(public[:], pair[keystore.SecretSize:]) {
		key.Wipe()
		return Key{}, fmt.Errorf("%s: %w: the last 32 bytes are not the public key of the first 32", format, ErrOtherKey)
	}
	return key, nil
}

// readNumbers fills to from a JSON array of as many numbers. If it fails, offset is the
// position of the error.
func readNumbers(text []byte, to []byte) (offset int, err error) {
	space := func() {
		for offset < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[offset]) >= 0 {
			offset++
		}
	}
	take := func(b byte) bool {
		space()
		if offset < len(text) && text[offset] == b {
			offset++
			return true
		}
		return false
	}
	if !take('[') {
		return offset, errors.New("expected an array of 64 numbers in brackets")
	}
	for i := range to {
		if i > 0 && !take(',') {
			return offset, fmt.Errorf("expected a comma after number %d of %d", i, len(to))
		}
		space()
		size := 0
		for offset+size < len(text) && '0' <= text[offset+size] && text[offset+size] <= '9' && size < 4 {
			size++
		}
		value, ok := parseByte(text[offset : offset+size])
		if !ok {
			return offset, fmt.Errorf("number %d is not between 0 and 255", i+1)
		}
		to[i], offset = value, offset+size
	}
	if !take(']') {
		return offset, fmt.Errorf("expected a closing bracket after number %d", len(to))
	}
	if space(); offset < len(text) {
		return offset, errors.New("unexpected text after the array")
	}
	return offset, nil
}

// parseByte reads 1 to 3 digits without leading zeros.
func parseByte(digits []byte) (byte, bool) {
	if len(digits) == 0 || len(digits) > 3 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	value := 0
	for _, digit := range digits {
		value = 10*value + int(digit-'0')
	}
	return byte(value), value <= 0xff
}

// Solana returns the key in the form of the Solana command line's id.json.
func (k Key) Solana() ([]byte, error) {
	if err := k.on(keystore.CurveEd25519, "solana keypair"); err != nil {
		return nil, err
	}
	text := make([]byte, 0, len("[]")+solanaSize*len("255,")) // never grows, which would leave a copy behind
	text = append(text, '[')
	public := k.PublicKey.Ed25519()
	for i, half := range [][]byte{k.Secret, public[:]} {
		for j, value := range half {
			if i+j > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendUint(text, uint64(value), 10)
		}
	}
	return append(text, ']'), nil
}

// ParseSolanaBase58 reads a key as exported by Solana's browser wallets: base58 of 64 bytes,
// the Ed25519 seed and its public key.
func ParseSolanaBase58(text []byte) (Key, error) {
	if len(text) > maxSolanaBase58 {
		return Key{}, fmt.Errorf("solana base58: %w: %d characters, at most %d", ErrMalformed, len(text), maxSolanaBase58)
	}
	pair := base58.Decode(string(text)) // empty if a character is not in the alphabet
	defer keystore.Wipe(pair)
	if len(pair) != solanaSize {
		return Key{}, fmt.Errorf("solana base58: %w: not %d bytes in base58", ErrMalformed, solanaSize)
	}
	return keyOfPair("solana base58", pair)
}

// SolanaBase58 returns the key in the form that Solana's browser wallets import.
func (k Key) SolanaBase58() ([]byte, error) {
	if err := k.on(keystore.CurveEd25519, "solana base58"); err != nil {
		return nil, err
	}
	public := k.PublicKey.Ed25519()
	pair := append(bytes.Clone(k.Secret), public[:]...)
	defer keystore.Wipe(pair)
	return []byte(base58.Encode(pair)), nil
}
