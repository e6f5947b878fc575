package keyformat

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// MaxSize is the length in bytes of the longest file that is read.
const MaxSize = 64 << 10

// Errors for errors.Is.
var (
	// ErrMalformed means that the file is not what the format says.
	ErrMalformed = errors.New("malformed")

	// ErrPassword means that the password is wrong, or the file was damaged: these
	// cannot be told apart.
	ErrPassword = errors.New("wrong password, or the file is damaged")

	// ErrPasswordMissing means that the file is encrypted, and no password was given.
	ErrPasswordMissing = errors.New("the file is encrypted: its password is needed")

	// ErrCost means that to try a password, the file asks for more work or memory than
	// the limits allow.
	ErrCost = errors.New("key derivation above the limit")

	// ErrUnsupported means that the format cannot hold such a key, or its variant is not
	// read here.
	ErrUnsupported = errors.New("unsupported")

	// ErrOtherKey means that the file names another public key, or another address, than
	// its secret has.
	ErrOtherKey = errors.New("the secret does not belong to what the file names")
)

// Key is one key, read from a file or about to be written to one.
type Key struct {
	Curve     keystore.Curve
	Secret    keystore.SecretBytes // keystore.SecretSize bytes: a scalar, or an Ed25519 seed
	PublicKey keystore.PublicKey   // derived from Secret
}

// NewKey makes a Key from a secret, which it copies.
func NewKey(curve keystore.Curve, secret []byte) (Key, error) {
	made, err := software.New(keystore.KeyInfo{}, curve, secret)
	if err != nil {
		return Key{}, err
	}
	defer made.Destroy()
	return Key{Curve: curve, Secret: append([]byte(nil), secret...), PublicKey: made.Info().PublicKey}, nil
}

// Wipe overwrites the secret.
func (k Key) Wipe() { keystore.Wipe(k.Secret) }

// on returns an error if the key is not on the curve that a format is for.
func (k Key) on(curve keystore.Curve, format string) error {
	if k.Curve != curve {
		return fmt.Errorf("%s: %w: it is for keys on %v, and this one is on %v", format, ErrUnsupported, curve, k.Curve)
	}
	return nil
}

// ParseHex reads the hex of a secret: 64 digits, with or without 0x.
func ParseHex(curve keystore.Curve, text []byte) (Key, error) {
	secret, err := DecodeHex(text)
	if err != nil {
		return Key{}, err
	}
	defer keystore.Wipe(secret)
	return NewKey(curve, secret)
}

// DecodeHex is ParseHex without deriving the public key: for a keystore that
// does so itself.
func DecodeHex(text []byte) ([]byte, error) {
	digits := text
	if len(digits) >= 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') {
		digits = digits[2:]
	}
	if len(digits) != hex.EncodedLen(keystore.SecretSize) {
		return nil, fmt.Errorf("the secret has %d characters: %d hex digits are expected", len(digits), hex.EncodedLen(keystore.SecretSize))
	}
	secret := make([]byte, keystore.SecretSize)
	if _, err := hex.Decode(secret, digits); err != nil {
		keystore.Wipe(secret)
		return nil, errors.New("the secret has a character that is not a hex digit")
	}
	return secret, nil
}

// Hex returns the secret as 64 hex digits in lower case.
func (k Key) Hex() []byte {
	return hex.AppendEncode(make([]byte, 0, hex.EncodedLen(len(k.Secret))), k.Secret)
}
