// Package personal reads the preimages of personal messages.
//
// # Input
//
//	19 "Ethereum Signed Message:\n" length message     EIP-191, version 0x45
//	19 "TRON Signed Message:\n" length message         TIP-191
//	19 00 validator(20) data                           EIP-191, version 0
//
// length is the length of the message in bytes, in decimal without leading zeros. A
// message is text that [plaintext.Problem] accepts, or 32 bytes. Package texts judges it.
//
// Any other version byte is refused, as is text that cannot be shown to a person.
//
// # Output
//
// A signature over keccak256 of the preimage.
package personal

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Name is the Chain of this package's errors.
const Name = "personal message"

// HazardValidatorData is the hazard of data of EIP-191's version 0. Texts have those of
// package texts.
const HazardValidatorData = "message/validator-data"

// HazardNames returns all hazards of this package.
func HazardNames() []string { return append(texts.HazardNames(), HazardValidatorData) }

// The prefixes of messages, which the length follows.
const (
	EthereumPrefix = "\x19Ethereum Signed Message:\n"
	TronPrefix     = "\x19TRON Signed Message:\n"
)

// prefix is the prefix of the messages of a chain, and the standard of its sign-ins.
type prefix struct {
	text     string
	chain    chains.MessageSigner
	standard *texts.Standard
}

var prefixes = []prefix{{EthereumPrefix, ethereum.Chain{}, texts.EIP4361}, {TronPrefix, tron.Chain{}, texts.EIP4361Tron}}

// ChainOf returns the name of the chain whose prefix a preimage has, empty if it has none.
func ChainOf(preimage []byte) string {
	for i := range prefixes {
		if bytes.HasPrefix(preimage, []byte(prefixes[i].text)) {
			return prefixes[i].chain.Name()
		}
	}
	return ""
}

// Preimage returns the preimage of a message under a prefix.
func Preimage(prefix string, message []byte) []byte {
	return append([]byte(prefix+strconv.Itoa(len(message))), message...)
}

// Parse reads a preimage. The error is a *chains.ParseError.
func Parse(preimage []byte) (chains.Transaction, error) {
	for i := range prefixes {
		if bytes.HasPrefix(preimage, []byte(prefixes[i].text)) {
			return parseText(&prefixes[i], preimage)
		}
	}
	if bytes.HasPrefix(preimage, []byte{0x19, 0x00}) {
		return parseValidator(preimage)
	}
	return nil, statement.Malformed(Name, "", 0, `expected the preimage: 19 "Ethereum Signed Message:\n", the decimal length, and the message`)
}

// parseText reads length and message after the prefix. The message may begin with digits:
// only one split makes the length match.
func parseText(under *prefix, preimage []byte) (chains.Transaction, error) {
	offset := len(under.text)
	rest := preimage[offset:]
	var room [7]byte // of the longest number
	for digits := 1; digits <= len(room) && digits <= len(rest); digits++ {
		message := rest[digits:]
		if bytes.Equal(rest[:digits], strconv.AppendInt(room[:0], int64(len(message)), 10)) {
			return newText(under, preimage, offset+digits)
		}
	}
	return nil, statement.Malformed(Name, "length", offset, "expected the decimal number of bytes that follow")
}

// maxArg is the length of the longest message that a policy sees, in bytes.
const maxArg = 1024

func newText(under *prefix, preimage []byte, offset int) (chains.Transaction, error) {
	message := preimage[offset:]
	if problem := plaintext.Problem(message); problem != "" && len(message) != hashSize {
		return nil, statement.Malformed(Name, "message", offset, "%s, so it cannot be shown", problem)
	}
	return statement.Parts{Chain: under.chain, Digest: evm.Keccak256(preimage),
		Text: &statement.Text{Text: texts.Read(message, under.standard), Name: "personal message", MaxArg: maxArg}}.Transaction(), nil
}

// hashSize is the length of a hash, in bytes, which is read although it cannot be shown as text.
const hashSize = 32

// parseValidator reads data whose meaning only a contract knows.
func parseValidator(preimage []byte) (chains.Transaction, error) {
	const head = 2 + 20
	if len(preimage) < head {
		return nil, statement.Malformed(Name, "validator", 2, "expected the 20 bytes of an address after 19 00")
	}
	validator := evm.PartyAt(evm.Address(preimage[2:head]))
	effect := chains.Effect{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, To: validator, Undecoded: true,
		Function: "validator data", Path: "data"}
	return statement.Parts{
		Chain: ethereum.Chain{},
		Fields: func() []chains.Field {
			return []chains.Field{chains.Text("kind", "data for a validator (EIP-191, version 0)"),
				chains.AddressField("validator", validator.String()), chains.Bytes("data", preimage[head:])}
		},
		Effects: []chains.Effect{effect},
		Hazards: func([]chains.Effect, chains.Party) []chains.Hazard {
			return []chains.Hazard{{Name: HazardValidatorData,
				Detail: fmt.Sprintf("only the contract %s knows what the data means and what the signature permits", validator)}}
		},
		Digest: crypto.Keccak256Hash(preimage),
	}.Transaction(), nil
}
