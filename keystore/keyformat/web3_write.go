package keyformat

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
)

// Cost is the cost of trying a password for a new file.
type Cost struct {
	// LogN is the binary logarithm of scrypt's N; r is 8 and p is 1. An attempt takes
	// 2^LogN KiB of memory. 0 means DefaultLogN.
	LogN int
}

// DefaultLogN is geth's default: 256 MiB, about a second.
const DefaultLogN = 18

// Web3 returns the key as an encrypted file of Web3 Secret Storage version 3, with scrypt. The
// key must be on secp256k1.
func (k Key) Web3(password []byte, cost Cost) ([]byte, error) {
	if err := k.on(keystore.CurveSecp256k1, "web3"); err != nil {
		return nil, err
	}
	var salt [32]byte
	var iv [16]byte
	_, _ = rand.Read(salt[:]) // never fails
	_, _ = rand.Read(iv[:])
	parameters := scryptCost{n: 1 << cmp.Or(cost.LogN, DefaultLogN), r: 8, p: 1}
	derived, err := parameters.key(password, salt[:], web3KeySize)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(derived)
	ciphertext := make([]byte, len(k.Secret))
	if err := aesCTR(derived[:16], iv[:], ciphertext, k.Secret); err != nil {
		return nil, err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"version": 3,
		"id":      id.String(),
		"address": web3Address(k),
		"crypto": map[string]any{
			"cipher":       "aes-128-ctr",
			"cipherparams": map[string]any{"iv": hex.EncodeToString(iv[:])},
			"ciphertext":   hex.EncodeToString(ciphertext),
			"kdf":          "scrypt",
			"kdfparams": map[string]any{
				"dklen": web3KeySize, "n": parameters.n, "r": parameters.r, "p": parameters.p, "salt": hex.EncodeToString(salt[:]),
			},
			"mac": hex.EncodeToString(crypto.Keccak256(derived[16:], ciphertext)),
		},
	})
}
