package messages

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// name is the Chain of this package's errors.
const name = "payload"

func refuse(format string, args ...any) error {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: name, Offset: -1, Problem: fmt.Sprintf(format, args...)}
}

// short truncates a caller's text for an error.
func short(text string) string { return plaintext.Shorten(text, 64) }

const cure = "send typed data with PAYLOAD_ENCODING_EIP712, or the preimage of a personal message with " +
	"HASH_FUNCTION_KECCAK256"

// The beginnings of the preimages of personal messages.
const (
	ethereumPrefix = "\x19Ethereum Signed Message:\n"
	tronPrefix     = "\x19TRON Signed Message:\n"
)

// refuseHash refuses what is a hash, or is to be signed without its hash.
func refuseHash(message chains.Message) error {
	raw := message.Bytes
	isPreimage := bytes.HasPrefix(raw, []byte(ethereumPrefix)) || bytes.HasPrefix(raw, []byte(tronPrefix))
	switch form := message.Form; {
	case isPreimage && (form == 0 || form == chains.MessageSHA256 || form == chains.MessageBare):
		return refuse("this is the preimage of a personal message: send it with %s", activity.HashKeccak256)
	case form == chains.MessageSHA256 && len(raw) == 32:
		return refuse("32 bytes look like a hash, and its preimage is unknown: %s", cure)
	case form != 0:
		return nil
	case len(raw) == 32:
		return refuse("32 bytes look like a hash, and its preimage is unknown: %s, or send a transaction to "+
			"sign_transaction", cure)
	case len(raw) == 64:
		if half, err := hex.DecodeString(string(raw)); err == nil && len(half) == 32 {
			return refuse("64 hex digits look like a hash, and its preimage is unknown: %s", cure)
		}
	}
	return refuse("%s would sign a hash computed elsewhere, whose preimage is unknown: %s", activity.HashNone, cure)
}

// usual are the chains whose messages have a form, for a refusal if none is served.
var usual = map[chains.MessageForm]string{
	chains.MessageTypedData: "ethereum", chains.MessageAuthorization: "ethereum", chains.MessageKeccak256: "ethereum",
	chains.MessageSHA256: "tron", chains.MessageDoubleSHA256: "bitcoin", chains.MessageBare: "solana",
}

func (r Reader) refuseUnread(message chains.Message) error {
	raw, of := message.Bytes, usual[message.Form]
	if message.Form == chains.MessageKeccak256 {
		if bytes.HasPrefix(raw, []byte(tronPrefix)) {
			of = "tron"
		} else if err := refuseKeccak(raw); err != nil {
			return err
		}
	}
	served := slices.ContainsFunc(r.Chains, func(chain chains.Chain) bool { return chain.Name() == of })
	switch {
	case !served && message.Form == chains.MessageSHA256:
		return refuse("this engine does not sign for %s, and %s supports only raw_data of its transactions", of,
			activity.HashSHA256)
	case !served:
		return refuse("this engine does not sign for %s", of)
	case message.Form == chains.MessageBare:
		return refuse("32 bytes look like a hash, and its preimage is unknown: send an off-chain message or the " +
			"message of a transaction")
	}
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: "personal message",
		Problem: `expected the preimage: 19 "Ethereum Signed Message:\n", the decimal length, and the message`}
}

// refuseKeccak refuses what is not the preimage of a personal message, and nil if it may be one.
// 32 bytes are refused as a hash before their first byte is looked at.
func refuseKeccak(raw []byte) error {
	switch {
	case bytes.HasPrefix(raw, []byte(ethereumPrefix)), bytes.HasPrefix(raw, []byte{0x19, 0x00}):
		return nil
	case len(raw) == 32:
		return refuse("32 bytes look like a hash, and its preimage is unknown: %s", cure)
	case bytes.HasPrefix(raw, []byte{0x19, 0x01}):
		return refuse("19 01 and two hashes do not show what is signed: send the typed data as JSON with %s and %s",
			activity.EncodingEIP712, activity.HashNone)
	case raw[0] == 0x19:
		return nil
	case raw[0] == 0x05:
		return refuse("05 is the first byte of an EIP-7702 authorization: send it as JSON with %s and %s",
			activity.EncodingAuthorization, activity.HashNone)
	case bytes.HasPrefix(raw, []byte("\xffsolana offchain")):
		return refuse("an off-chain message of Solana is signed without hashing: send it with %s",
			activity.HashNotApplicable)
	case raw[0] >= 0xc0 || raw[0] <= 0x04 || raw[0] == 0x76 || raw[0] == 0x78:
		return refuse("this looks like a transaction: send it to sign_transaction")
	case raw[0] == '{':
		return refuse("this looks like JSON: send typed data with %s and %s", activity.EncodingEIP712,
			activity.HashNone)
	}
	return refuse(`the message lacks its prefix: send the preimage, which is 19 "Ethereum Signed Message:\n", ` +
		`the decimal length in bytes, and the message`)
}
