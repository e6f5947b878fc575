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

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
)

// name is the Chain of this package's errors.
const name = "personal message"

// HazardValidatorData is the hazard of data of EIP-191's version 0. Texts have those of
// package texts.
const HazardValidatorData = "message/validator-data"

// The prefixes of messages, which the length follows.
const (
	EthereumPrefix = "\x19Ethereum Signed Message:\n"
	TronPrefix     = "\x19TRON Signed Message:\n"
)

// Kind is what distinguishes the personal messages of a chain.
type Kind struct {
	Prefix   string
	Standard *texts.Standard // of sign-ins
}

// Preimage returns the preimage of a message under a prefix.
func Preimage(prefix string, message []byte) []byte {
	return append([]byte(prefix+strconv.Itoa(len(message))), message...)
}

// Parse reads a preimage of a kind for the keys of a chain. The error is a *chains.ParseError, or
// chains.ErrUnsupported if it has another prefix.
func Parse(preimage []byte, chain chains.MessageSigner, of Kind) (chains.Transaction, error) {
	if !bytes.HasPrefix(preimage, []byte(of.Prefix)) {
		return nil, chains.ErrUnsupported
	}
	message, ok := messageIn(preimage[len(of.Prefix):])
	if !ok {
		return nil, statement.Malformed(name, "length", len(of.Prefix),
			"expected the decimal number of bytes that follow")
	}
	if problem := plaintext.Problem(message); problem != "" && len(message) != hashSize {
		return nil, statement.Malformed(name,
			"message", len(preimage)-len(message), "%s, so it cannot be shown", problem)
	}
	return &statement.Message{By: chain, Digest: evm.Keccak256(preimage),
		Content: &statement.Text{Text: texts.Read(message, of.Standard), Name: name, MaxArg: maxArg}}, nil
}

// messageIn returns the message after its length. It may begin with digits: only one split makes
// the length match.
func messageIn(rest []byte) (message []byte, ok bool) {
	var room [7]byte // of the longest number
	for digits := 1; digits <= len(room) && digits <= len(rest); digits++ {
		message := rest[digits:]
		if bytes.Equal(rest[:digits], strconv.AppendInt(room[:0], int64(len(message)), 10)) {
			return message, true
		}
	}
	return nil, false
}

// maxArg is the length of the longest message that a policy sees, in bytes.
const maxArg = 1024

// hashSize is the length of a hash, in bytes, which is read although it cannot be shown as text.
const hashSize = 32

// validatorData is data whose meaning only a contract knows.
type validatorData struct {
	validator chains.Party
	data      []byte
}

// ParseValidator reads the preimage of such data for the keys of a chain. The error is a
// *chains.ParseError, or chains.ErrUnsupported if it has another prefix.
func ParseValidator(preimage []byte, chain chains.MessageSigner) (chains.Transaction, error) {
	const head = 2 + 20
	switch {
	case !bytes.HasPrefix(preimage, []byte{0x19, 0x00}):
		return nil, chains.ErrUnsupported
	case len(preimage) < head:
		return nil, statement.Malformed(name, "validator", 2, "expected the 20 bytes of an address after 19 00")
	}
	content := &validatorData{evm.PartyAt(evm.Address(preimage[2:head])), preimage[head:]}
	return &statement.Message{By: chain, Content: content, Digest: evm.Keccak256(preimage)}, nil
}

func (d *validatorData) Fields() []chains.Field {
	return []chains.Field{chains.Text("kind", "data for a validator (EIP-191, version 0)"),
		chains.AddressField("validator", d.validator.String()), chains.Bytes("data", d.data)}
}

func (d *validatorData) Effects(signer statement.Signer) []chains.Effect {
	return signer.Resolve([]chains.Effect{{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner,
		To: d.validator, Undecoded: true, Function: "validator data", Path: "data"}}, nil)
}

func (d *validatorData) Hazards(statement.Signer) []chains.Hazard {
	return []chains.Hazard{{Name: HazardValidatorData,
		Detail: fmt.Sprintf("only the contract %s knows what the data means and what the signature permits",
			d.validator)}}
}
