// Package bip137 reads messages as Bitcoin's signmessage signs them.
//
// # Input
//
//	18 "Bitcoin Signed Message:\n" length message
//
// length is the CompactSize of the message, in its shortest form. The message is text
// that [plaintext.Problem] accepts.
//
// # Output
//
// A signature over the double SHA-256 of the input. LegacySignature of package bitcoin turns it
// into the base64 that verifiers take, with the kind of address (BIP-137).
package bip137

import (
	"bytes"

	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/texts"
)

// name is the Chain of this package's errors.
const name = "bitcoin message"

// prefix begins every preimage.
const prefix = "\x18Bitcoin Signed Message:\n"

// Preimage returns the preimage of a message.
func Preimage(message []byte) []byte {
	return append(psbt.AppendCompactSize([]byte(prefix), uint64(len(message))), message...)
}

// Parse reads a preimage for the keys of a chain. The error is a *chains.ParseError.
func Parse(preimage []byte, chain chains.MessageSigner) (chains.Transaction, error) {
	if !bytes.HasPrefix(preimage, []byte(prefix)) {
		return nil, malformed("", 0,
			`expected the preimage: 18 "Bitcoin Signed Message:\n", the length as CompactSize, and the message`)
	}
	message, ok := messageIn(preimage)
	if !ok {
		return nil, malformed("length", len(prefix),
			"expected the number of bytes that follow, as the shortest CompactSize")
	}
	if problem := plaintext.Problem(message); problem != "" {
		return nil, malformed("message", len(preimage)-len(message), "%s, so it cannot be shown", problem)
	}
	return &statement.Message{By: chain, Digest: chainhash.DoubleHashH(preimage), Content: &statement.Text{
		Text: texts.Read(message, nil), Name: "signed message", Kind: "signed message (BIP-137)", MaxArg: maxArg}}, nil
}

// messageIn returns what follows the length, if the length is its.
func messageIn(preimage []byte) (message []byte, ok bool) {
	rest := preimage[len(prefix):]
	for _, size := range []int{1, 3, 5} {
		if len(rest) >= size && bytes.Equal(psbt.AppendCompactSize(nil, uint64(len(rest)-size)), rest[:size]) {
			return rest[size:], true
		}
	}
	return nil, false
}

// maxArg is the length of the longest message that a policy sees, in bytes.
const maxArg = 1024

func malformed(field string, offset int, format string, args ...any) error {
	return statement.Malformed(name, field, offset, format, args...)
}
