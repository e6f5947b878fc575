package keyformat

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// MaxSize is the maximum length of a file in bytes.
const MaxSize = 64 << 10

// Errors for errors.Is.
var (
	// ErrMalformed: the file violates its format.
	ErrMalformed = errors.New("malformed")

	// ErrPassword: the password is wrong or the file was damaged; these are indistinguishable.
	ErrPassword = errors.New("wrong password, or the file is damaged")

	// ErrPasswordMissing: the file is encrypted, and no password was given.
	ErrPasswordMissing = errors.New("the file is encrypted: its password is needed")

	// ErrCost: trying a password would take more work or memory than the limits allow.
	ErrCost = errors.New("key derivation above the limit")

	// ErrUnsupported: the format cannot hold such a key, or this package does not support
	// the variant.
	ErrUnsupported = errors.New("unsupported")

	// ErrOtherKey: the file names another public key or address than its secret has.
	ErrOtherKey = errors.New("the secret does not match the public key or address in the file")
)

// Key is one key, read from a file or to be written to one.
type Key struct {
	Curve     keystore.Curve
	Secret    keystore.SecretBytes // keystore.SecretSize bytes: a scalar, or an Ed25519 seed
	PublicKey keystore.PublicKey   // derived from Secret
}

// NewKey returns a Key with a copy of the secret.
func NewKey(curve keystore.Curve, secret []byte) (Key, error) {
	key, err := software.New(keystore.KeyInfo{}, curve, secret)
	if err != nil {
		return Key{}, err
	}
	defer key.Destroy()
	return Key{Curve: curve, Secret: append([]byte(nil), secret...), PublicKey: key.Info().PublicKey}, nil
}

// Wipe overwrites the secret.
func (k Key) Wipe() { keystore.Wipe(k.Secret) }

// on returns an error unless the key is on the curve of the format.
func (k Key) on(curve keystore.Curve, format string) error {
	if k.Curve != curve {
		return fmt.Errorf("%s: %w: the format is for keys on %v, and this key is on %v", format, ErrUnsupported, curve, k.Curve)
	}
	return nil
}

// ParseHex reads a secret as 64 hex digits, with or without 0x.
func ParseHex(curve keystore.Curve, text []byte) (Key, error) {
	secret, err := DecodeHex(text)
	if err != nil {
		return Key{}, err
	}
	defer keystore.Wipe(secret)
	return NewKey(curve, secret)
}

// DecodeHex is ParseHex without deriving the public key, for use with a keystore that derives
// it anyway.
func DecodeHex(text []byte) ([]byte, error) {
	digits := text
	if len(digits) >= 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') {
		digits = digits[2:]
	}
	if len(digits) != hex.EncodedLen(keystore.SecretSize) {
		if w, err := ParseWIF(text); err == nil {
			w.Key.Wipe()
			return nil, errors.New("this is a key in Bitcoin's wallet import format, not in hex: its format is wif")
		}
		if words := len(bytes.Fields(text)); words >= 12 {
			return nil, fmt.Errorf("these are %d words, not hex: if they are those of a wallet, their format is mnemonic",
				words)
		}
		return nil, fmt.Errorf("the secret has %d characters, want %d hex digits", len(digits), hex.EncodedLen(keystore.SecretSize))
	}
	secret := make([]byte, keystore.SecretSize)
	if _, err := hex.Decode(secret, digits); err != nil {
		keystore.Wipe(secret)
		return nil, errors.New("the secret has a character that is not a hex digit")
	}
	return secret, nil
}

// Hex returns the secret as 64 lower-case hex digits.
func (k Key) Hex() []byte {
	return hex.AppendEncode(make([]byte, 0, hex.EncodedLen(len(k.Secret))), k.Secret)
}
