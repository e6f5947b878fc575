package messages

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/messages/delegation"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

// Name is what stands for a chain's name in the errors of this package.
const Name = "payload"

// Encoding is how a payload is written, as the API names it.
type Encoding string

// The encodings.
const (
	EncodingHex           Encoding = "PAYLOAD_ENCODING_HEXADECIMAL"
	EncodingText          Encoding = "PAYLOAD_ENCODING_TEXT_UTF8"
	EncodingEIP712        Encoding = "PAYLOAD_ENCODING_EIP712"
	EncodingAuthorization Encoding = "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"
)

// HashFunction is what is applied to a payload before it is signed, as the API
// names it.
type HashFunction string

// The hash functions.
const (
	HashNone          HashFunction = "HASH_FUNCTION_NO_OP"
	HashSHA256        HashFunction = "HASH_FUNCTION_SHA256"
	HashKeccak256     HashFunction = "HASH_FUNCTION_KECCAK256"
	HashNotApplicable HashFunction = "HASH_FUNCTION_NOT_APPLICABLE" // Ed25519
)

// Reader reads payloads.
type Reader struct {
	// Chain returns the chain with a name; nil if the engine does not sign for it.
	Chain func(name string) chains.Chain

	// Now is the clock that deadlines are compared with.
	Now func() time.Time
}

// Read reads a payload. The error is a *chains.ParseError.
func (r Reader) Read(payload string, encoding Encoding, hash HashFunction) (chains.Transaction, error) {
	switch {
	case encoding == EncodingEIP712 && hash == HashNone:
		return r.of(ethereum.Name, func() (chains.Transaction, error) { return structures.Parse([]byte(payload), r.Now()) })
	case encoding == EncodingAuthorization && hash == HashNone:
		return r.of(ethereum.Name, func() (chains.Transaction, error) { return delegation.Parse([]byte(payload)) })
	case encoding == EncodingEIP712, encoding == EncodingAuthorization:
		return nil, refuse("hash function %q: %s goes with %s, for the engine hashes it", short(string(hash)), encoding, HashNone)
	case encoding != EncodingHex && encoding != EncodingText:
		return nil, refuse("encoding %q: use %s, %s, %s or %s", short(string(encoding)), EncodingHex, EncodingText, EncodingEIP712, EncodingAuthorization)
	}
	raw, err := decode(payload, encoding)
	if err != nil {
		return nil, err
	}
	switch hash {
	case HashKeccak256:
		return r.keccak(raw)
	case HashNotApplicable:
		return r.ed25519(raw)
	case HashSHA256:
		return r.sha256(raw)
	case HashNone:
		return nil, refuseHash(raw)
	}
	return nil, refuse("hash function %q: use %s, %s, %s or %s", short(string(hash)), HashKeccak256, HashNotApplicable, HashSHA256, HashNone)
}

func decode(payload string, encoding Encoding) ([]byte, error) {
	if encoding == EncodingText {
		if payload == "" || !utf8.ValidString(payload) {
			return nil, refuse("empty, or not UTF-8")
		}
		return []byte(payload), nil
	}
	raw, err := chains.DecodeHex(payload)
	if err != nil {
		return nil, refuse("%v; hex is expected with %s", err, EncodingHex)
	}
	return raw, nil
}

// of reads for a chain that the engine signs for.
func (r Reader) of(name string, read func() (chains.Transaction, error)) (chains.Transaction, error) {
	if r.Chain(name) == nil {
		return nil, refuse("this engine does not sign for %s", name)
	}
	tx, err := read()
	if err != nil {
		return nil, err
	}
	return tx, nil
}

// keccak reads the preimages of personal messages. What is like a hash is said to be
// one, although a hash may begin with any byte.
func (r Reader) keccak(raw []byte) (chains.Transaction, error) {
	personalOf := func(name string) (chains.Transaction, error) {
		return r.of(name, func() (chains.Transaction, error) { return personal.Parse(raw) })
	}
	switch {
	case bytes.HasPrefix(raw, []byte(personal.TronPrefix)):
		return personalOf(tron.Name)
	case bytes.HasPrefix(raw, []byte(personal.EthereumPrefix)), bytes.HasPrefix(raw, []byte{0x19, 0x00}):
		return personalOf(ethereum.Name)
	case len(raw) == 32:
		return nil, refuse("32 bytes to be hashed once more: what was hashed first cannot be read; %s", cure)
	case bytes.HasPrefix(raw, []byte{0x19, 0x01}):
		return nil, refuse("19 01 and two hashes hide what is signed: send the typed data as JSON with %s and %s", EncodingEIP712, HashNone)
	case raw[0] == 0x19:
		return personalOf(ethereum.Name)
	case raw[0] == 0x05:
		return nil, refuse("05 begins an authorization of EIP-7702: send it as JSON with %s and %s", EncodingAuthorization, HashNone)
	case solanamsg.IsOffchain(raw):
		return nil, refuse("an off-chain message of Solana is signed as it is: send it with %s", HashNotApplicable)
	case raw[0] >= 0xc0 || raw[0] <= 0x04 || raw[0] == 0x76 || raw[0] == 0x78:
		return nil, refuse("this reads as the start of a transaction: send it to sign_transaction")
	case raw[0] == '{':
		return nil, refuse("JSON text is not hashed as it is: send typed data with %s and %s", EncodingEIP712, HashNone)
	}
	return nil, refuse(`a message without its prefix: send the preimage, 19 "Ethereum Signed Message:\n", the decimal length in bytes, and the message`)
}

// sha256 reads raw_data of Tron, whose SHA-256 is what its transactions sign.
func (r Reader) sha256(raw []byte) (chains.Transaction, error) {
	chain, ok := r.Chain(tron.Name).(messageParser)
	if !ok {
		return nil, refuse("this engine does not sign for %s, and only raw_data of its transactions is signed over SHA-256", tron.Name)
	}
	switch {
	case isPreimage(raw):
		return nil, refuseOtherHash()
	case len(raw) == 32:
		return nil, refuse("32 bytes to be hashed once more: what was hashed first cannot be read; %s", cure)
	}
	tx, err := chain.ParseMessage(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: only raw_data of a Tron transaction is signed over SHA-256: %w", Name, err)
	}
	return asPayload{tx}, nil
}

// ed25519 reads what Solana signs. No text begins as the message of a transaction
// does, and none that begins so is taken for text.
func (r Reader) ed25519(raw []byte) (chains.Transaction, error) {
	return r.of(solana.Name, func() (chains.Transaction, error) {
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
			return nil, refuse("32 bytes, like a hash: what was hashed cannot be read; send an off-chain message or the message of a transaction")
		}
		chain, ok := r.Chain(solana.Name).(messageParser)
		if !ok {
			return nil, refuse("this engine's %s reads no bare messages: send the transaction to sign_transaction", solana.Name)
		}
		tx, err := chain.ParseMessage(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: neither text nor an off-chain message, and as a transaction: %w", Name, err)
		}
		return asPayload{tx}, nil
	})
}

// messageParser is implemented by chains whose transactions stand around a message
// that is what is signed.
type messageParser interface {
	ParseMessage(message []byte) (chains.Transaction, error)
}

// isPreimage reports whether bytes begin as the preimage of a personal message does.
func isPreimage(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte(personal.EthereumPrefix)) || bytes.HasPrefix(raw, []byte(personal.TronPrefix))
}

// refuseOtherHash refuses the preimage of a personal message with another hash function
// than its own.
func refuseOtherHash() error {
	return refuse("the preimage of a personal message is signed over Keccak-256: send it with %s", HashKeccak256)
}

const cure = "send typed data with PAYLOAD_ENCODING_EIP712, or the preimage of a personal message with HASH_FUNCTION_KECCAK256"

// refuseHash refuses what would be signed as it is.
func refuseHash(raw []byte) error {
	switch {
	case isPreimage(raw):
		return refuseOtherHash()
	case len(raw) == 32:
		return refuse("32 bytes to be signed as they are: that is a hash, and what was hashed cannot be read; %s, or a transaction to sign_transaction", cure)
	case len(raw) == 64:
		if half, err := hex.DecodeString(string(raw)); err == nil && len(half) == 32 {
			return refuse("64 hex digits: that is a hash, and what was hashed cannot be read; %s", cure)
		}
	}
	return refuse("%s signs a hash that was made elsewhere, and what was hashed cannot be read; %s", HashNone, cure)
}

func refuse(format string, args ...any) error {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: Name, Offset: -1, Problem: fmt.Sprintf(format, args...)}
}

func short(text string) string {
	const most = 64
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
