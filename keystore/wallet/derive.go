package wallet

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/countersign-dev/countersign/keystore"
)

// Derive returns the secret at a path below a seed: a scalar of secp256k1
// (BIP-32) or a seed of Ed25519 (SLIP-10), keystore.SecretSize bytes. The seed is
// 16 to 64 bytes.
func Derive(seed []byte, curve keystore.Curve, path Path) ([]byte, error) {
	if len(seed) < hdkeychain.MinSeedBytes || len(seed) > hdkeychain.MaxSeedBytes {
		return nil, fmt.Errorf("seed: %d bytes, want %d to %d", len(seed), hdkeychain.MinSeedBytes, hdkeychain.MaxSeedBytes)
	}
	if len(path) > MaxDepth {
		return nil, fmt.Errorf("%w: %d steps, at most %d", ErrPath, len(path), MaxDepth)
	}
	switch curve {
	case keystore.CurveSecp256k1:
		return deriveSecp256k1(seed, path)
	case keystore.CurveEd25519:
		return deriveEd25519(seed, path)
	}
	return nil, fmt.Errorf("unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
}

func deriveSecp256k1(seed []byte, path Path) ([]byte, error) {
	node, err := extendedKey(seed, path)
	if err != nil {
		return nil, err
	}
	defer node.Zero()
	key, err := node.ECPrivKey()
	if err != nil {
		return nil, fmt.Errorf("%w %v: %w", ErrPath, path, err)
	}
	defer key.Zero()
	return key.Serialize(), nil
}

// extendedKey returns the extended private key at a path (BIP-32). Its network
// is without meaning: only its text form has one.
func extendedKey(seed []byte, path Path) (*hdkeychain.ExtendedKey, error) {
	node, err := hdkeychain.NewMaster(seed, &chaincfg.MainNetParams)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	for _, index := range path {
		child, err := node.Derive(index)
		node.Zero()
		if err != nil {
			return nil, fmt.Errorf("%w %v: %w", ErrPath, path, err)
		}
		node = child
	}
	return node, nil
}

// deriveEd25519 is SLIP-10:
//
//	key ‖ chain code = HMAC-SHA-512("ed25519 seed", seed)
//	child            = HMAC-SHA-512(chain code, 0x00 ‖ key ‖ index, 4 bytes big-endian)
func deriveEd25519(seed []byte, path Path) ([]byte, error) {
	node := hmacSHA512([]byte("ed25519 seed"), seed)
	defer func() { keystore.Wipe(node) }()
	for i, index := range path {
		if index < Hardened {
			return nil, fmt.Errorf("%w %v: step %d is not hardened: Ed25519 has no others (SLIP-10), write %d'", ErrPath, path, i+1, index)
		}
		var data [1 + keystore.SecretSize + 4]byte
		copy(data[1:], node[:keystore.SecretSize])
		binary.BigEndian.PutUint32(data[1+keystore.SecretSize:], index)
		child := hmacSHA512(node[keystore.SecretSize:], data[:])
		clear(data[:])
		keystore.Wipe(node)
		node = child
	}
	return append([]byte(nil), node[:keystore.SecretSize]...), nil
}

func hmacSHA512(key, data []byte) []byte {
	mac := hmac.New(sha512.New, key)
	mac.Write(data)
	return mac.Sum(nil)
}
