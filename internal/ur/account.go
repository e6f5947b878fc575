package ur

import "github.com/fxamacker/cbor/v2"

// TypeAccount is a set of output descriptors for the accounts of one master key, for
// watch-only wallets (BCR-2023-019).
const TypeAccount = "account-descriptor"

// CBOR tags of the second versions (BCR-2023-010, BCR-2020-007).
const (
	outputTag      = 40308
	newHDKeyTag    = 40303
	newCoinInfoTag = 40305
)

// AccountDescriptor tells a watch-only wallet about the accounts of a master key.
type AccountDescriptor struct {
	Fingerprint uint32 // of the master key, big-endian
	Outputs     []OutputDescriptor
}

// OutputDescriptor is an output descriptor (BCR-2023-010).
type OutputDescriptor struct {
	Source string  // with @0 in place of the key, such as wpkh(@0)
	Key    HDKey   // of the account; its name is that of the descriptor
	More   []HDKey // in the places of @1 and so on
}

// TypeOutput is one output descriptor (BCR-2023-010).
const TypeOutput = "output-descriptor"

// Message encodes the descriptor.
func (o OutputDescriptor) Message() Message { return Message{TypeOutput, marshal(o.fields())} }

func (o OutputDescriptor) fields() outputMap {
	keys := []cbor.Tag{o.Key.tagged()}
	for _, key := range o.More {
		keys = append(keys, key.tagged())
	}
	return outputMap{o.Source, keys, o.Key.Name}
}

type accountMap struct {
	Fingerprint uint32     `cbor:"1,keyasint"`
	Outputs     []cbor.Tag `cbor:"2,keyasint"`
}

type outputMap struct {
	Source string     `cbor:"1,keyasint"`
	Keys   []cbor.Tag `cbor:"2,keyasint"`
	Name   string     `cbor:"3,keyasint,omitempty"`
}

// Message encodes the descriptors.
func (a AccountDescriptor) Message() Message {
	m := accountMap{Fingerprint: a.Fingerprint}
	for _, output := range a.Outputs {
		m.Outputs = append(m.Outputs, cbor.Tag{Number: outputTag, Content: output.fields()})
	}
	return Message{TypeAccount, marshal(m)}
}

// tagged returns the second version of the key. It omits the depth of the path, which
// follows from the components.
func (k HDKey) tagged() cbor.Tag {
	origin := k.Origin.components()
	if k.Origin.Fingerprint != 0 {
		origin.Fingerprint = &k.Origin.Fingerprint
	}
	m := hdKeyMap{Key: k.Key, ChainCode: k.ChainCode, Origin: cbor.Tag{Number: newKeypathTag, Content: origin}, Parent: k.Parent}
	if k.Testnet {
		m.Coin = &cbor.Tag{Number: newCoinInfoTag, Content: coinInfo{Network: 1}}
	}
	return cbor.Tag{Number: newHDKeyTag, Content: m}
}

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
