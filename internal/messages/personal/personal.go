// Package personal reads the preimages of personal messages.
//
// # Input
//
//	19 "Ethereum Signed Message:\n" length message     EIP-191, version 0x45
//	19 "TRON Signed Message:\n" length message         TIP-191
//	19 00 validator(20) data                           EIP-191, version 0
//
// length is the length of the message in bytes, in decimal without leading zeros. A
// message is text that [plaintext.Problem] accepts, or 32 bytes. 32 bytes that are not all
// lower-case hex digits or dashes have the hazard [HazardHashLike], and so has text that
// is nothing but 64 hex digits or base64 of 32 bytes. The members of a sign-in (EIP-4361) are read.
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
)

// Name is the Chain of this package's errors.
const Name = "personal message"

// The hazards of personal messages.
const (
	HazardHashLike        = "message/hash-like"        // 32 bytes, as they are, in hex or in base64
	HazardTransactionLike = "message/transaction-like" // it can be read as a transaction
	HazardValidatorData   = "message/validator-data"   // EIP-191 version 0
	HazardKeyDerivation   = "message/key-derivation"   // an application makes a private key from the signature
	HazardForeignSignIn   = "message/foreign-sign-in"  // a sign-in for another address or site, or one that is not well-formed
	HazardLooseNonce      = "message/loose-nonce"      // a sign-in whose nonce has dashes
)

// HazardNames returns all hazards of this package.
func HazardNames() []string {
	return []string{HazardHashLike, HazardTransactionLike, HazardValidatorData, HazardKeyDerivation, HazardForeignSignIn, HazardLooseNonce}
}

// The prefixes of messages, which the length follows.
const (
	EthereumPrefix = "\x19Ethereum Signed Message:\n"
	TronPrefix     = "\x19TRON Signed Message:\n"
)

// prefix is the prefix of the messages of a chain, and the standard of its sign-ins.
type prefix struct {
	text     string
	chain    chains.MessageSigner
	standard *standard
}

var prefixes = []prefix{{EthereumPrefix, ethereum.Chain{}, siwe}, {TronPrefix, tron.Chain{}, siwt}}

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

// Parse reads a preimage. known are the chains whose transactions its text must not be. The
// error is a *chains.ParseError.
func Parse(preimage []byte, known ...chains.Chain) (chains.Transaction, error) {
	for i := range prefixes {
		if bytes.HasPrefix(preimage, []byte(prefixes[i].text)) {
			return parseText(&prefixes[i], preimage, known)
		}
	}
	if bytes.HasPrefix(preimage, []byte{0x19, 0x00}) {
		return parseValidator(preimage)
	}
	return nil, statement.Malformed(Name, "", 0, `expected the preimage: 19 "Ethereum Signed Message:\n", the decimal length, and the message`)
}

// parseText reads length and message after the prefix. The message may begin with digits:
// only one split makes the length match.
func parseText(under *prefix, preimage []byte, known []chains.Chain) (chains.Transaction, error) {
	offset := len(under.text)
	rest := preimage[offset:]
	var room [7]byte // of the longest number
	for digits := 1; digits <= len(room) && digits <= len(rest); digits++ {
		message := rest[digits:]
		if bytes.Equal(rest[:digits], strconv.AppendInt(room[:0], int64(len(message)), 10)) {
			return newText(under, preimage, offset+digits, known)
		}
	}
	return nil, statement.Malformed(Name, "length", offset, "expected the decimal number of bytes that follow")
}

// text is a personal message.
type text struct {
	*prefix
	message []byte
	hash    string  // the problem that hashLike returns
	signIn  *SignIn // nil if the message is not a sign-in
	known   []chains.Chain
}

func newText(under *prefix, preimage []byte, offset int, known []chains.Chain) (chains.Transaction, error) {
	t := &text{prefix: under, message: preimage[offset:], known: known}
	problem := plaintext.Problem(t.message)
	if t.hash = hashIn(t.message, problem == ""); problem != "" && t.hash == "" {
		return nil, statement.Malformed(Name, "message", offset, "%s, so it cannot be shown", problem)
	}
	t.signIn = signInOf(t.message, t.standard)
	return statement.Parts{Chain: t.chain, Text: t, Digest: evm.Keccak256(preimage)}.Transaction(), nil
}

// Function implements statement.Text.
func (t *text) Function() string {
	if t.signIn != nil {
		return "sign in"
	}
	return "personal message"
}

// maxArg is the length of the longest message that a policy sees, in bytes.
const maxArg = 1024

// Args implements statement.Text.
func (t *text) Args() []chains.Arg {
	if t.signIn != nil {
		return t.signIn.Args()
	}
	if len(t.message) > maxArg || plaintext.Problem(t.message) != "" {
		return nil
	}
	return []chains.Arg{{Name: "message", Value: string(t.message)}}
}

// Fields implements statement.Text.
func (t *text) Fields() []chains.Field {
	fields := []chains.Field{chains.Text("kind", t.Function())}
	if plaintext.Problem(t.message) != "" {
		return append(fields, chains.Bytes("message", t.message))
	}
	if t.signIn != nil {
		fields = append(fields, t.signIn.Fields()...)
	}
	return append(fields, chains.Text("message", string(t.message)))
}

// Hazards implements statement.Text.
func (t *text) Hazards(signer chains.Party) []chains.Hazard {
	return append(textHazards(t.message, t.hash, t.known), SignInHazards(t.signIn, t.message, t.standard.name, signer)...)
}

// KeyDerivation is the detail of [HazardKeyDerivation]. Its argument is what DerivesKey
// returns.
const KeyDerivation = "%s makes a private key from this signature: who sees the signature, here or in a record of it, has that key"

// TextHazards returns the hazards of the text of any message: that it looks like a
// hash, can be read as a transaction of a known chain, or that the signature becomes a key.
func TextHazards(text []byte, known ...chains.Chain) []chains.Hazard {
	return textHazards(text, hashLike(text), known)
}

// textHazards is TextHazards for a text of which hashLike is known.
func textHazards(text []byte, hash string, known []chains.Chain) (hazards []chains.Hazard) {
	if hash != "" {
		hazards = append(hazards, chains.Hazard{Name: HazardHashLike, Detail: hash})
	}
	if of := DerivesKey(text); of != "" {
		hazards = append(hazards, chains.Hazard{Name: HazardKeyDerivation, Detail: fmt.Sprintf(KeyDerivation, of)})
	}
	if chain := transactionLike(text, known); chain != "" {
		hazards = append(hazards, chains.Hazard{Name: HazardTransactionLike,
			Detail: fmt.Sprintf("the message can be read as a transaction of %s: send it to sign_transaction", chain)})
	} else if isSignDoc(text) {
		hazards = append(hazards, chains.Hazard{Name: HazardTransactionLike,
			Detail: "the message is a transaction of a Cosmos chain in JSON, some of which take a signature over it as a text"})
	}
	return hazards
}

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
