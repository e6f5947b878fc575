// Package solanamsg reads messages of Solana that are not transactions.
//
// # Input
//
// Off-chain messages of version 0 (Anza's off-chain message signing)
//
//	ff "solana offchain"     signing domain, 16 bytes
//	00                       version
//	32 bytes                 application domain
//	format                   0 printable ASCII, 1 UTF-8, 2 UTF-8 of up to 65,535 bytes
//	count ‖ 32 bytes each    signers
//	length (u16, LE) ‖ text
//
// of which formats 0 and 1 have at most 1,232 bytes in total, the limit of hardware
// wallets; of version 1 (sRFC 38)
//
//	ff "solana offchain" 01 ‖ count ‖ 32 bytes each, ascending ‖ text
//
// and the header of 20 bytes that the solana command writes (sign-offchain-message), which
// names neither the application nor the signers:
//
//	ff "solana offchain" 00 ‖ format ‖ length (u16, LE) ‖ text
//
// Anything else is a raw message: UTF-8 text whose first byte is at least 0x20, which no message of
// a transaction begins with. It has the hazard [HazardRawMessage] unless the text is known.
//
// # Output
//
// An Ed25519 signature over the unchanged bytes.
package solanamsg

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

// name is the Chain of this package's errors.
const name = "solana message"

// HazardRawMessage means that a text lacks the header of an off-chain message.
const HazardRawMessage = "solana/raw-message"

// signingDomain is the prefix of every off-chain message.
const signingDomain = "\xffsolana offchain"

// maxShort bounds a message of format 0 or 1 with its header, in bytes.
const maxShort = 1232

// IsOffchain reports whether raw begins as an off-chain message does.
func IsOffchain(raw []byte) bool { return bytes.HasPrefix(raw, []byte(signingDomain)) }

// offchain is an off-chain message.
type offchain struct {
	version     byte
	application []byte // version 0: 32 bytes
	format      byte
	signers     [][32]byte
	text        []byte
	legacy      bool // the header of 20 bytes
}

// Parse reads an off-chain message or a raw one for the keys of a chain. The error is a
// *chains.ParseError, or chains.ErrUnsupported if it is neither.
func Parse(raw []byte, chain chains.MessageSigner) (chains.Transaction, error) {
	switch {
	case IsRawText(raw):
		return parseRaw(raw, chain), nil
	case !IsOffchain(raw):
		return nil, chains.ErrUnsupported
	case len(raw) < len(signingDomain)+1:
		return nil, malformed("signing domain", 0, `expected ff "solana offchain" and a version`)
	}
	m := &offchain{version: raw[len(signingDomain)]}
	var err error
	switch m.version {
	case 0:
		if err = m.readV0(raw, len(signingDomain)+1); err != nil && isLegacy(raw) {
			m = &offchain{legacy: true, format: raw[legacyHeader-3], text: raw[legacyHeader:]}
			err = m.checkFormat(raw, legacyHeader)
		}
	case 1:
		err = m.readV1(raw, len(signingDomain)+1)
	default:
		err = malformed("version", len(signingDomain), "unsupported version %d: expected 0 or 1", m.version)
	}
	if err != nil {
		return nil, err
	}
	return m.transaction(raw, chain), nil
}

func (m *offchain) readV0(raw []byte, offset int) error {
	const fixed = 32 + 1 + 1
	if len(raw) < offset+fixed {
		return malformed("application domain", offset,
			"the header of version 0 is truncated: expected application domain (32 bytes), format, signers, "+
				"length and text")
	}
	m.application, m.format = raw[offset:offset+32], raw[offset+32]
	if m.format > 2 {
		return malformed("format", offset+32, "unknown format %d: expected 0, 1 or 2", m.format)
	}
	offset, err := m.readSigners(raw, offset+33)
	if err != nil {
		return err
	}
	if len(raw) < offset+2 || int(binary.LittleEndian.Uint16(raw[offset:])) != len(raw)-offset-2 {
		return malformed("length", offset, "the length, little-endian, does not match the text that follows")
	}
	m.text = raw[offset+2:]
	return m.checkFormat(raw, offset+2)
}

// checkFormat checks the text of version 0, which begins at offset.
func (m *offchain) checkFormat(raw []byte, offset int) error {
	if m.format < 2 && len(raw) > maxShort {
		return malformed("text", offset,
			"the message has %d bytes with its header: format %d allows at most %d, use format 2",
			len(raw), m.format, maxShort)
	}
	if m.format == 0 && bytes.ContainsFunc(m.text, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return malformed("text", offset, "format 0 allows only printable ASCII")
	}
	return m.checkText(offset)
}

// legacyHeader is the length of the solana command's header, in bytes.
const legacyHeader = len(signingDomain) + 4

// isLegacy reports whether the length in a header of 20 bytes is that of what follows.
func isLegacy(raw []byte) bool {
	return len(raw) >= legacyHeader && raw[legacyHeader-3] <= 2 &&
		int(binary.LittleEndian.Uint16(raw[legacyHeader-2:])) == len(raw)-legacyHeader
}

func (m *offchain) readV1(raw []byte, offset int) error {
	offset, err := m.readSigners(raw, offset)
	if err != nil {
		return err
	}
	for i := 1; i < len(m.signers); i++ {
		if bytes.Compare(m.signers[i-1][:], m.signers[i][:]) >= 0 {
			return malformed("signers", -1, "signer %d is not greater than the one before: signers must ascend", i)
		}
	}
	m.text = raw[offset:]
	return m.checkText(offset)
}

func (m *offchain) readSigners(raw []byte, offset int) (int, error) {
	if len(raw) <= offset || raw[offset] == 0 {
		return 0, malformed("signers", offset, "expected at least one signer")
	}
	count := int(raw[offset])
	offset++
	if len(raw) < offset+32*count {
		return 0, malformed("signers", offset, "truncated: expected %d signers of 32 bytes", count)
	}
	for i := range count {
		signer := [32]byte(raw[offset+32*i:])
		if j := slices.Index(m.signers, signer); j >= 0 {
			return 0, malformed("signers", offset+32*i, "signers %d and %d are the same", j, i)
		}
		m.signers = append(m.signers, signer)
	}
	return offset + 32*count, nil
}

func (m *offchain) checkText(offset int) error {
	if len(m.text) == 0 {
		return malformed("text", offset, "empty")
	}
	if problem := plaintext.Problem(m.text); problem != "" {
		return malformed("text", offset, "%s, so it cannot be shown", problem)
	}
	return nil
}

func (m *offchain) transaction(raw []byte, chain chains.MessageSigner) chains.Transaction {
	text := &statement.Text{Text: texts.Read(m.text, texts.SIWS), Name: "off-chain message", MaxArg: len(m.text),
		Kind: "off-chain message, version " + string('0'+m.version)}
	message := &statement.Message{By: chain, Bytes: raw, Content: text}
	if m.legacy {
		text.Kind = "off-chain message of the solana command: its header of 20 bytes names no signer and no application"
		return message
	}
	message.Admits = m.admits
	if m.version == 0 {
		application := strings.TrimRight(string(m.application), "\x00")
		if application == "" || plaintext.Problem([]byte(application)) != "" { // it is no zero-padded text
			application = "0x" + hex.EncodeToString(m.application)
		}
		text.More = append(text.More, chains.Text("application domain", application))
		text.MoreArgs = []chains.Arg{{Name: "application", Value: application}}
	}
	for _, signer := range m.signers {
		text.More = append(text.More, chains.AddressField("signer", base58.Encode(signer[:])))
	}
	return message
}

// admits refuses a key that the message does not name. Keys of other curves are refused elsewhere.
func (m *offchain) admits(key keystore.PublicKey) error {
	if key.Curve() != keystore.CurveEd25519 || slices.Contains(m.signers, key.Ed25519()) {
		return nil
	}
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: name,
		Problem: "the message names other signers than this key"}
}

func malformed(field string, offset int, format string, args ...any) error {
	return statement.Malformed(name, field, offset, format, args...)
}

// firstOfText is the smallest first byte of a raw message. The message of a legacy
// transaction begins with the number of its signers, which is below 20; those of other
// versions begin with 0x80 or 0x81.
const firstOfText = 0x20

// IsRawText reports whether raw is text and cannot be anything else.
func IsRawText(raw []byte) bool {
	return len(raw) > 0 && raw[0] >= firstOfText && plaintext.Problem(raw) == ""
}

func parseRaw(raw []byte, chain chains.MessageSigner) chains.Transaction {
	text := &statement.Text{Text: texts.Read(raw, texts.SIWS), Name: "raw message", Kind: "text without a header",
		MaxArg: len(raw), Unknown: chains.Hazard{Name: HazardRawMessage,
			Detail: "the text has no header that separates it from what other programs sign: use an off-chain message"}}
	if text.IsSignIn() {
		text.Kind = "sign in (SIWS)"
	}
	return &statement.Message{By: chain, Bytes: raw, Content: text}
}
