package keyformat

import (
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

func (c Cost) scrypt() scryptCost {
	if c.LogN == 0 {
		c.LogN = DefaultLogN
	}
	return scryptCost{n: 1 << c.LogN, r: 8, p: 1}
}

type web3File struct {
	Address string     `json:"address"`
	Crypto  web3Crypto `json:"crypto"`
	ID      string     `json:"id"`
	Version int        `json:"version"`
}

type web3Crypto struct {
	Cipher       string           `json:"cipher"`
	Ciphertext   string           `json:"ciphertext"`
	CipherParams web3CipherParams `json:"cipherparams"`
	KDF          string           `json:"kdf"`
	KDFParams    web3Scrypt       `json:"kdfparams"`
	MAC          string           `json:"mac"`
}

type web3CipherParams struct {
	IV string `json:"iv"`
}

type web3Scrypt struct {
	DKLen int    `json:"dklen"`
	N     uint64 `json:"n"`
	P     uint64 `json:"p"`
	R     uint64 `json:"r"`
	Salt  string `json:"salt"`
}

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
	parameters := cost.scrypt()
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
	return json.Marshal(web3File{
		Address: web3Address(k),
		Crypto: web3Crypto{
			Cipher:       "aes-128-ctr",
			Ciphertext:   hex.EncodeToString(ciphertext),
			CipherParams: web3CipherParams{IV: hex.EncodeToString(iv[:])},
			KDF:          "scrypt",
			KDFParams:    web3Scrypt{DKLen: web3KeySize, N: parameters.n, P: parameters.p, R: parameters.r, Salt: hex.EncodeToString(salt[:])},
			MAC:          hex.EncodeToString(crypto.Keccak256(derived[16:], ciphertext)),
		},
		ID:      id.String(),
		Version: 3,
	})
}
