// Package personal reads the preimages of personal messages.
//
// # In
//
//	19 "Ethereum Signed Message:\n" length message     EIP-191, version 0x45
//	19 "TRON Signed Message:\n" length message         TIP-191
//	19 00 validator(20) data                           EIP-191, version 0
//
// length is the decimal number of bytes of the message. A message is UTF-8 text
// without control characters except tab and line feed, or 32 bytes, which carry
// the hazard [HazardHashLike]. A message that is a sign-in (EIP-4361) is read.
//
// # Refused
//
// A length that is not that of the message or not canonical, any other version
// byte, and texts that a person could not be shown.
//
// # Out
//
// A signature over keccak256 of the preimage.
package personal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Name is what stands for a chain's name in the errors of this package.
const Name = "personal message"

// The hazards of personal messages.
const (
	HazardHashLike        = "message/hash-like"        // 32 bytes, or 64 hex digits
	HazardTransactionLike = "message/transaction-like" // it reads as a transaction
	HazardValidatorData   = "message/validator-data"   // EIP-191 version 0
	HazardForeignSignIn   = "message/foreign-sign-in"  // a sign-in for another address or site, or that cannot be read
)

// HazardNames is the closed list of them.
func HazardNames() []string {
	return []string{HazardHashLike, HazardTransactionLike, HazardValidatorData, HazardForeignSignIn}
}

// The prefixes of messages, up to the length.
const (
	EthereumPrefix = "\x19Ethereum Signed Message:\n"
	TronPrefix     = "\x19TRON Signed Message:\n"
)

// Preimage returns the preimage of a message under a prefix.
func Preimage(prefix string, message []byte) []byte {
	return append([]byte(prefix+strconv.Itoa(len(message))), message...)
}

// Parse reads a preimage. The error is a *chains.ParseError.
func Parse(preimage []byte) (chains.Transaction, error) {
	switch {
	case bytes.HasPrefix(preimage, []byte(EthereumPrefix)):
		return parseText(ethereum.Name, preimage, len(EthereumPrefix))
	case bytes.HasPrefix(preimage, []byte(TronPrefix)):
		return parseText(tron.Name, preimage, len(TronPrefix))
	case bytes.HasPrefix(preimage, []byte{0x19, 0x00}):
		return parseValidator(preimage)
	}
	return nil, statement.Malformed(Name, "", 0, `the preimage is expected: 19 "Ethereum Signed Message:\n", the decimal length, and the message`)
}

// parseText reads what stands behind a prefix: length and message. Digits at the
// start of the message could belong to the length: the one reading that fits the
// number of bytes is taken.
func parseText(chain string, preimage []byte, at int) (chains.Transaction, error) {
	rest := preimage[at:]
	for digits := 1; digits <= 7 && digits <= len(rest); digits++ {
		message := rest[digits:]
		if string(rest[:digits]) == strconv.Itoa(len(message)) {
			return newText(chain, preimage, at+digits)
		}
	}
	return nil, statement.Malformed(Name, "length", at, "the decimal number of bytes that follow is expected behind the prefix")
}

// text is a message that a person reads.
type text struct {
	chain   string
	message []byte
	hash    string // why it is like a hash
	signIn  *SignIn
}

func newText(chain string, preimage []byte, at int) (chains.Transaction, error) {
	t := &text{chain: chain, message: preimage[at:]}
	t.hash = statement.HashLike(t.message)
	if problem := plaintext.Problem(t.message); problem != "" && t.hash == "" {
		return nil, statement.Malformed(Name, "message", at, "%s: it could not be shown", problem)
	}
	if chain == ethereum.Name {
		t.signIn = ParseSignIn(string(t.message))
	}
	effect := chains.Effect{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, Function: t.function(), Path: "message"}
	effect.Args = t.args()
	return statement.Parts{
		Chain: chain, Fields: t.fields(), Effects: []chains.Effect{effect}, Hazards: t.hazards,
		Digest: crypto.Keccak256Hash(preimage),
	}.Transaction(), nil
}

func (t *text) function() string {
	if t.signIn != nil {
		return "sign in"
	}
	return "personal message"
}

// maxArg is how many bytes of a message a policy sees.
const maxArg = 1024

func (t *text) args() []chains.Arg {
	if t.signIn != nil {
		return t.signIn.Args()
	}
	if len(t.message) > maxArg || t.hash != "" {
		return nil
	}
	return []chains.Arg{{Name: "message", Value: string(t.message)}}
}

func (t *text) fields() []chains.Field {
	fields := []chains.Field{chains.Text("kind", t.function())}
	if plaintext.Problem(t.message) != "" {
		return append(fields, chains.Bytes("message", t.message))
	}
	if t.signIn != nil {
		fields = append(fields, t.signIn.Fields()...)
	}
	return append(fields, chains.Text("message", string(t.message)))
}

func (t *text) hazards(_ []chains.Effect, signer chains.Party) (found []chains.Hazard) {
	add := func(name, format string, args ...any) {
		found = append(found, chains.Hazard{Name: name, Detail: fmt.Sprintf(format, args...)}.OnEffect(0))
	}
	found = TextHazards(t.message)
	switch {
	case t.signIn != nil:
		if problem := t.signIn.Problem(signer); problem != "" {
			add(HazardForeignSignIn, "%s", problem)
		}
	case t.chain == ethereum.Name && AsksToSignIn(t.message):
		add(HazardForeignSignIn, UnreadSignIn, "EIP-4361")
	}
	return found
}

// TextHazards returns the hazards of a text as such, whatever stands around it: that
// it is like a hash, or reads as a transaction.
func TextHazards(text []byte) (found []chains.Hazard) {
	if problem := statement.HashLike(text); problem != "" {
		found = append(found, chains.Hazard{Name: HazardHashLike, Detail: problem}.OnEffect(0))
	}
	if chain := transactionLike(text); chain != "" {
		found = append(found, chains.Hazard{Name: HazardTransactionLike,
			Detail: fmt.Sprintf("the message reads as a transaction of %s: have it signed as one", chain)}.OnEffect(0))
	}
	return found
}

// transactionLike returns the chain whose transaction a message is, as it is or
// in hex or base64; empty if it is none.
func transactionLike(message []byte) string {
	forms := [][]byte{message}
	trimmed := strings.TrimSpace(string(message))
	if raw, err := chains.DecodeHex(trimmed); err == nil {
		forms = append(forms, raw)
	}
	if raw, err := base64.StdEncoding.DecodeString(trimmed); err == nil {
		forms = append(forms, raw)
	}
	for _, raw := range forms {
		for _, chain := range []chains.Chain{ethereum.New(ethereum.Limits{}), solana.New(solana.Limits{}), tron.New(tron.Limits{})} {
			if _, err := chain.Parse(raw); err == nil {
				return chain.Name()
			}
		}
		if _, err := solana.New(solana.Limits{}).ParseMessage(raw); err == nil {
			return solana.Name
		}
	}
	return ""
}

// parseValidator reads data for a contract that checks it in its own way.
func parseValidator(preimage []byte) (chains.Transaction, error) {
	const head = 2 + 20
	if len(preimage) < head {
		return nil, statement.Malformed(Name, "validator", 2, "20 bytes of an address are expected behind 19 00")
	}
	validator := ethereum.PartyAt([20]byte(preimage[2:head]))
	effect := chains.Effect{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, To: validator, Undecoded: true,
		Function: "validator data", Path: "data"}
	return statement.Parts{
		Chain: ethereum.Name,
		Fields: []chains.Field{chains.Text("kind", "data for a validator (EIP-191, version 0)"),
			chains.AddressField("validator", validator.String()), chains.Bytes("data", preimage[head:])},
		Effects: []chains.Effect{effect},
		Hazards: func([]chains.Effect, chains.Party) []chains.Hazard {
			return []chains.Hazard{chains.Hazard{Name: HazardValidatorData,
				Detail: fmt.Sprintf("only the contract %s knows what the data means: it may do anything that the signature lets it", validator)}.OnEffect(0)}
		},
		Digest: crypto.Keccak256Hash(preimage),
	}.Transaction(), nil
}
