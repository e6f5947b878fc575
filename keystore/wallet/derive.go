package wallet

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
)

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
