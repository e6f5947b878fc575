package ur

import "github.com/fxamacker/cbor/v2"

// TypeHDKey is an extended public key for watch-only wallets (BCR-2020-007), with the
// name and the tags that wallets read.
const TypeHDKey = "crypto-hdkey"

// coinInfoTag is the CBOR tag of a key's coin (BCR-2020-007).
const coinInfoTag = 305

// HDKey is the extended public key (BIP-32) of an account of Bitcoin.
type HDKey struct {
	Key       []byte  // compressed: 33 bytes
	ChainCode []byte  // 32 bytes
	Testnet   bool    // for test networks
	Origin    Keypath // from the master key, with its fingerprint
	Parent    uint32  // fingerprint of the parent key, big-endian
	Name      string
}

// hdKeyMap is the CBOR form of an HDKey. Members that would say "not a master key", "not
// a private key" and "Bitcoin's main network" are omitted, which means the same.
type hdKeyMap struct {
	Key       []byte    `cbor:"3,keyasint"`
	ChainCode []byte    `cbor:"4,keyasint"`
	Coin      *cbor.Tag `cbor:"5,keyasint,omitempty"`
	Origin    any       `cbor:"6,keyasint"` // a Keypath, or in the second version a tag
	Parent    uint32    `cbor:"8,keyasint,omitempty"`
	Name      string    `cbor:"9,keyasint,omitempty"`
}

// coinInfo names a network of Bitcoin.
type coinInfo struct {
	Network int `cbor:"2,keyasint"` // 1: a test network
}

// Message encodes the key.
func (k HDKey) Message() Message {
	m := hdKeyMap{Key: k.Key, ChainCode: k.ChainCode, Origin: k.Origin, Parent: k.Parent, Name: k.Name}
	if k.Testnet {
		m.Coin = &cbor.Tag{Number: coinInfoTag, Content: coinInfo{Network: 1}}
	}
	return Message{TypeHDKey, marshal(m)}
}
