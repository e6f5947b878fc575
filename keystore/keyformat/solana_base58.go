package keyformat

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/keystore"
)

// maxSolanaBase58 is how many characters 64 bytes have at most.
const maxSolanaBase58 = 88

// ParseSolanaBase58 reads a key as Solana's browser wallets export it: base58 of 64
// bytes, the Ed25519 seed and its public key.
func ParseSolanaBase58(text []byte) (Key, error) {
	if len(text) > maxSolanaBase58 {
		return Key{}, fmt.Errorf("solana base58: %w: %d characters, at most %d", ErrMalformed, len(text), maxSolanaBase58)
	}
	pair := base58.Decode(string(text)) // empty if a character is none of base58's
	defer keystore.Wipe(pair)
	if len(pair) != solanaSize {
		return Key{}, fmt.Errorf("solana base58: %w: not %d bytes in base58", ErrMalformed, solanaSize)
	}
	key, err := NewKey(keystore.CurveEd25519, pair[:keystore.SecretSize])
	if err != nil {
		return Key{}, fmt.Errorf("solana base58: %w", err)
	}
	if public := key.PublicKey.Ed25519(); !bytes.Equal(public[:], pair[keystore.SecretSize:]) {
		key.Wipe()
		return Key{}, fmt.Errorf("solana base58: %w: the last 32 bytes are not the public key of the first 32", ErrOtherKey)
	}
	return key, nil
}

// SolanaBase58 returns the key as Solana's browser wallets take it.
func (k Key) SolanaBase58() ([]byte, error) {
	if err := k.on(keystore.CurveEd25519, "solana base58"); err != nil {
		return nil, err
	}
	public := k.PublicKey.Ed25519()
	pair := append(bytes.Clone(k.Secret), public[:]...)
	defer keystore.Wipe(pair)
	return []byte(base58.Encode(pair)), nil
}
