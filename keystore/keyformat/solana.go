package keyformat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/countersign-dev/countersign/keystore"
)

// solanaSize is how many numbers an id.json has: seed ‖ public key.
const solanaSize = 64

// ParseSolana reads a keypair file of the Solana command line, such as id.json:
// a JSON array of 64 numbers from 0 to 255, the 32 bytes of the Ed25519 seed and
// the 32 of its public key.
func ParseSolana(text []byte) (Key, error) {
	var pair [solanaSize]byte
	defer keystore.Wipe(pair[:])
	if at, err := readNumbers(text, pair[:]); err != nil {
		return Key{}, fmt.Errorf("solana keypair: %w: at byte %d: %w", ErrMalformed, at, err)
	}
	key, err := NewKey(keystore.CurveEd25519, pair[:keystore.SecretSize])
	if err != nil {
		return Key{}, fmt.Errorf("solana keypair: %w", err)
	}
	if public := key.PublicKey.Ed25519(); !bytes.Equal(public[:], pair[keystore.SecretSize:]) {
		key.Wipe()
		return Key{}, fmt.Errorf("solana keypair: %w: numbers 33 to 64 are not the public key of the first 32", ErrOtherKey)
	}
	return key, nil
}

// readNumbers fills to from a JSON array of so many numbers, and nothing else.
func readNumbers(text []byte, to []byte) (at int, err error) {
	space := func() {
		for at < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[at]) >= 0 {
			at++
		}
	}
	take := func(b byte) bool {
		space()
		if at < len(text) && text[at] == b {
			at++
			return true
		}
		return false
	}
	if !take('[') {
		return at, errors.New("an array of 64 numbers in brackets is expected")
	}
	for i := range to {
		if i > 0 && !take(',') {
			return at, fmt.Errorf("a comma is expected behind number %d of %d", i, len(to))
		}
		space()
		size := 0
		for at+size < len(text) && '0' <= text[at+size] && text[at+size] <= '9' && size < 4 {
			size++
		}
		value, ok := parseByte(text[at : at+size])
		if !ok {
			return at, fmt.Errorf("number %d is not one from 0 to 255", i+1)
		}
		to[i], at = value, at+size
	}
	if !take(']') {
		return at, fmt.Errorf("a closing bracket is expected behind number %d", len(to))
	}
	if space(); at < len(text) {
		return at, errors.New("nothing may follow the array")
	}
	return at, nil
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

// Solana returns the key as the Solana command line keeps it in id.json.
func (k Key) Solana() ([]byte, error) {
	if err := k.on(keystore.CurveEd25519, "solana keypair"); err != nil {
		return nil, err
	}
	text := make([]byte, 0, len("[]")+solanaSize*len("255,")) // never grows, which would leave a copy
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
