package solana

import (
	"crypto/ed25519"
	"errors"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/signer"
	"github.com/countersign-dev/countersign/keystore"
)

// ParseMessage reads a message alone, which is what signatures cover, as strictly as
// Parse reads a whole transaction: it adds zeroed signature slots. The error is a
// *chains.ParseError whose offsets are in message.
func (c Chain) ParseMessage(message []byte) (chains.Transaction, error) {
	header := 0
	if len(message) > 0 && message[0]&prefixBit != 0 {
		header = 1
	}
	if len(message) <= header || message[header] == 0 || message[header]&prefixBit != 0 {
		return nil, malformed("header.num_required_signatures", -1, "not a Solana message: it must have 1 to 127 signers")
	}
	slots := make([]byte, int(message[header])*ed25519.SignatureSize)
	if message[0] == prefixBit|1 {
		return c.Parse(append(append(make([]byte, 0, len(message)+len(slots)), message...), slots...))
	}
	wire := append(make([]byte, 0, 1+len(slots)+len(message)), message[header])
	tx, err := c.Parse(append(append(wire, slots...), message...))
	if refused, ok := errors.AsType[*chains.ParseError](err); ok && refused.Offset >= 1+len(slots) {
		refused.Offset -= 1 + len(slots) // the caller has the message alone
	}
	return tx, err
}

// SignWith is a parsed signWith: the key at an address, or with an id.
type SignWith struct {
	request
}

// ReadSignWith parses signWith. A text that only looks like an address is a
// *chains.SignerError.
func ReadSignWith(signWith string) (*SignWith, error) {
	var none *Transaction
	parsed, err := none.Request(signWith)
	if err != nil {
		return nil, err
	}
	return &SignWith{*parsed.(*request)}, nil
}

// Signer returns the one key that can sign: an Ed25519 key, and the one at the address
// if signWith is an address. The errors are those of chains.Request.
func (s *SignWith) Signer(keys []keystore.Key) (keystore.Ed25519Signer, keystore.Key, error) {
	return signer.Only(Name, keys, s.keyOf)
}

// PartyOf returns the party at the address of an Ed25519 key.
func PartyOf(pub keystore.PublicKey) chains.Party {
	raw := pub.Ed25519()
	return party(raw[:])
}

// EncodeAddress returns an address in base58.
func EncodeAddress(address [32]byte) string { return encode58(address[:]) }
