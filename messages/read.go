package messages

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/delegation"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Name is the Chain of this package's errors.
const Name = "payload"

// Reader reads payloads.
type Reader struct {
	// Chains are those that the engine signs for.
	Chains []chains.Chain

	// Now returns the time that deadlines are compared with.
	Now func() time.Time
}

// Read reads a payload. The error is a *chains.ParseError.
func (r Reader) Read(payload string, encoding activity.Encoding, hash activity.HashFunction) (chains.Transaction, error) {
	switch {
	case encoding == activity.EncodingEIP712 && hash == activity.HashNone:
		return r.typed([]byte(payload))
	case encoding == activity.EncodingAuthorization && hash == activity.HashNone:
		return r.readFor(ethereum.Name, func() (chains.Transaction, error) { return delegation.Parse([]byte(payload)) })
	case encoding == activity.EncodingEIP712, encoding == activity.EncodingAuthorization:
		return nil, refuse("hash function %q: use %s with %s, which the engine hashes itself", short(string(hash)), activity.HashNone, encoding)
	case encoding != activity.EncodingHex && encoding != activity.EncodingText:
		return nil, refuse("encoding %q: use %s, %s, %s or %s", short(string(encoding)), activity.EncodingHex, activity.EncodingText, activity.EncodingEIP712, activity.EncodingAuthorization)
	}
	raw, err := decode(payload, encoding)
	if err != nil {
		return nil, err
	}
	switch hash {
	case activity.HashKeccak256:
		return r.keccak(raw)
	case activity.HashNotApplicable:
		return r.ed25519(raw)
	case activity.HashSHA256:
		return r.sha256(raw)
	case activity.HashDoubleSHA256:
		return r.readFor(bitcoin.Name, func() (chains.Transaction, error) { return bip137.Parse(raw) })
	case activity.HashNone:
		return nil, refuseHash(raw)
	}
	return nil, refuse("hash function %q: use %s, %s, %s, %s or %s", short(string(hash)), activity.HashKeccak256, activity.HashNotApplicable, activity.HashSHA256,
		activity.HashDoubleSHA256, activity.HashNone)
}

// typed reads typed data of the chain that its domain is of, whose limits bound its fees.
func (r Reader) typed(text []byte) (chains.Transaction, error) {
	message, err := structures.Reader{Now: r.Now(), Chain: r.chain}.Parse(text)
	if err != nil {
		return nil, err
	}
	return message, nil
}

func decode(payload string, encoding activity.Encoding) ([]byte, error) {
	if encoding == activity.EncodingText {
		if payload == "" || !utf8.ValidString(payload) {
			return nil, refuse("empty or not UTF-8")
		}
		return []byte(payload), nil
	}
	raw, err := chains.DecodeHex(payload)
	if err != nil {
		return nil, refuse("%v: %s requires hex", err, activity.EncodingHex)
	}
	return raw, nil
}

// chain returns the chain of a name, or nil if the engine does not sign for it.
func (r Reader) chain(name string) chains.Chain { return intents.Table(r.Chains).Named(name) }

// readFor calls read if the engine signs for a chain.
func (r Reader) readFor(name string, read func() (chains.Transaction, error)) (chains.Transaction, error) {
	if r.chain(name) == nil {
		return nil, refuse("this engine does not sign for %s", name)
	}
	tx, err := read()
	if err != nil {
		return nil, err
	}
	return tx, nil
}

// keccak reads the preimage of a personal message. 32 bytes are refused as a hash
// before their first byte is looked at.
func (r Reader) keccak(raw []byte) (chains.Transaction, error) {
	personalFor := func(name string) (chains.Transaction, error) {
		return r.readFor(name, func() (chains.Transaction, error) { return personal.Parse(raw) })
	}
	switch chain := personal.ChainOf(raw); {
	case chain != "":
		return personalFor(chain)
	case bytes.HasPrefix(raw, []byte{0x19, 0x00}):
		return personalFor(ethereum.Name)
	case len(raw) == 32:
		return nil, refuse("32 bytes look like a hash, and its preimage is unknown: %s", cure)
	case bytes.HasPrefix(raw, []byte{0x19, 0x01}):
		return nil, refuse("19 01 and two hashes do not show what is signed: send the typed data as JSON with %s and %s", activity.EncodingEIP712, activity.HashNone)
	case raw[0] == 0x19:
		return personalFor(ethereum.Name)
	case raw[0] == 0x05:
		return nil, refuse("05 is the first byte of an EIP-7702 authorization: send it as JSON with %s and %s", activity.EncodingAuthorization, activity.HashNone)
	case solanamsg.IsOffchain(raw):
		return nil, refuse("an off-chain message of Solana is signed without hashing: send it with %s", activity.HashNotApplicable)
	case raw[0] >= 0xc0 || raw[0] <= 0x04 || raw[0] == 0x76 || raw[0] == 0x78:
		return nil, refuse("this looks like a transaction: send it to sign_transaction")
	case raw[0] == '{':
		return nil, refuse("this looks like JSON: send typed data with %s and %s", activity.EncodingEIP712, activity.HashNone)
	}
	return nil, refuse(`the message lacks its prefix: send the preimage, which is 19 "Ethereum Signed Message:\n", the decimal length in bytes, and the message`)
}

// sha256 reads raw_data of a Tron transaction, whose signatures are over its SHA-256.
func (r Reader) sha256(raw []byte) (chains.Transaction, error) {
	chain, ok := r.chain(tron.Name).(chains.MessageParser)
	if !ok {
		return nil, refuse("this engine does not sign for %s, and %s supports only raw_data of its transactions", tron.Name, activity.HashSHA256)
	}
	switch {
	case isPreimage(raw):
		return nil, refuseOtherHash()
	case len(raw) == 32:
		return nil, refuse("32 bytes look like a hash, and its preimage is unknown: %s", cure)
	}
	tx, err := chain.ParseMessage(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %s supports only raw_data of a Tron transaction: %w", Name, activity.HashSHA256, err)
	}
	return asPayload{tx}, nil
}

// ed25519 reads what Solana signs: an off-chain message, text, or the message of a
// transaction. Their first bytes differ, so that nothing has two readings.
func (r Reader) ed25519(raw []byte) (chains.Transaction, error) {
	return r.readFor(solana.Name, func() (chains.Transaction, error) {
		if solanamsg.IsOffchain(raw) {
			return solanamsg.ParseOffchain(raw)
		}
		if solanamsg.IsRawText(raw) {
			return solanamsg.ParseRaw(raw)
		}
		switch {
		case isPreimage(raw):
			return nil, refuseOtherHash()
		case len(raw) == 32:
			return nil, refuse("32 bytes look like a hash, and its preimage is unknown: send an off-chain message or the message of a transaction")
		}
		chain, ok := r.chain(solana.Name).(chains.MessageParser)
		if !ok {
			return nil, refuse("this engine cannot read bare messages of %s transactions: send the transaction to sign_transaction", solana.Name)
		}
		tx, err := chain.ParseMessage(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: neither text nor an off-chain message nor the message of a transaction: %w", Name, err)
		}
		return asPayload{tx}, nil
	})
}

// isPreimage reports whether raw begins with the prefix of a personal message.
func isPreimage(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte(personal.EthereumPrefix)) || bytes.HasPrefix(raw, []byte(personal.TronPrefix))
}

// refuseOtherHash refuses the preimage of a personal message with a hash function
// other than Keccak-256.
func refuseOtherHash() error {
	return refuse("this is the preimage of a personal message: send it with %s", activity.HashKeccak256)
}

const cure = "send typed data with PAYLOAD_ENCODING_EIP712, or the preimage of a personal message with HASH_FUNCTION_KECCAK256"

// refuseHash refuses a payload that would be signed without hashing.
func refuseHash(raw []byte) error {
	switch {
	case isPreimage(raw):
		return refuseOtherHash()
	case len(raw) == 32:
		return refuse("32 bytes look like a hash, and its preimage is unknown: %s, or send a transaction to sign_transaction", cure)
	case len(raw) == 64:
		if half, err := hex.DecodeString(string(raw)); err == nil && len(half) == 32 {
			return refuse("64 hex digits look like a hash, and its preimage is unknown: %s", cure)
		}
	}
	return refuse("%s would sign a hash computed elsewhere, whose preimage is unknown: %s", activity.HashNone, cure)
}

func refuse(format string, args ...any) error {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Offset: -1, Problem: fmt.Sprintf(format, args...)}
}

// short truncates a caller's text for an error.
func short(text string) string { return plaintext.Shorten(text, 64) }
