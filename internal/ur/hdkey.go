package ur

import "github.com/fxamacker/cbor/v2"

// TypeHDKey is an extended public key, for a wallet that watches: BCR-2020-007, under
// the name and the tags that wallets read.
const TypeHDKey = "crypto-hdkey"

// coinInfoTag is the CBOR tag of the coin that a key is for (BCR-2020-007).
const coinInfoTag = 305

// HDKey is the extended public key (BIP-32) of an account of Bitcoin.
type HDKey struct {
	Key       []byte  // compressed: 33 bytes
	ChainCode []byte  // 32 bytes
	Testnet   bool    // for test networks
	Origin    Keypath // from the master key, whose fingerprint it has
	Parent    uint32  // fingerprint of the key above, big-endian
	Name      string
}

// hdKeyMap is the form in CBOR. What is left out is: neither master nor private key,
// and Bitcoin's main network.
type hdKeyMap struct {
	Key       []byte    `cbor:"3,keyasint"`
	ChainCode []byte    `cbor:"4,keyasint"`
	Coin      *cbor.Tag `cbor:"5,keyasint,omitempty"`
	Origin    Keypath   `cbor:"6,keyasint"`
	Parent    uint32    `cbor:"8,keyasint,omitempty"`
	Name      string    `cbor:"9,keyasint,omitempty"`
}

// coinInfo says which network.
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
