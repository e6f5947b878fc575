// Package solanamsg reads messages of Solana that are no transactions.
//
// # In
//
// Off-chain messages, version 0 (anza, off-chain message signing) and 1 (sRFC 38):
//
//	ff "solana offchain"     signing domain, 16 bytes
//	00                       version
//	32 bytes                 application domain
//	format                   0 printable ASCII, 1 UTF-8, 2 UTF-8 of up to 65,535 bytes
//	count ‖ 32 bytes each    signers
//	length (u16, LE) ‖ text
//
// of formats 0 and 1 at most 1,232 bytes in all, which a hardware wallet can sign;
//
//	ff "solana offchain" 01 ‖ count ‖ 32 bytes each, ascending ‖ text
//
// Anything else is a raw message: UTF-8 text whose first byte is at least 0x20, as
// no message of a transaction begins: with the hazard [HazardRawMessage], unless it
// is a sign-in (SIWS) for the key.
//
// # Out
//
// An Ed25519 signature over the bytes as they came.
package solanamsg

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Name is what stands for a chain's name in the errors of this package.
const Name = "solana message"

// HazardRawMessage is that of a text without the header of an off-chain message.
const HazardRawMessage = "solana/raw-message"

// HazardNames is the closed list of hazards of this package. It shares others with
// package personal.
func HazardNames() []string { return []string{HazardRawMessage} }

// SigningDomain begins every off-chain message.
const SigningDomain = "\xffsolana offchain"

// maxShort is how long a message of format 0 or 1 may be with its header, in bytes.
const maxShort = 1232

// IsOffchain reports whether bytes begin as an off-chain message does.
func IsOffchain(raw []byte) bool { return bytes.HasPrefix(raw, []byte(SigningDomain)) }

// offchain is an off-chain message.
type offchain struct {
	version     byte
	application []byte // version 0: 32 bytes
	format      byte
	signers     [][32]byte
	text        []byte
}

// ParseOffchain reads an off-chain message. The error is a *chains.ParseError.
func ParseOffchain(raw []byte) (chains.Transaction, error) {
	if !IsOffchain(raw) || len(raw) < len(SigningDomain)+1 {
		return nil, malformed("signing domain", 0, `ff "solana offchain" and a version are expected`)
	}
	m := &offchain{version: raw[len(SigningDomain)]}
	var err error
	switch m.version {
	case 0:
		err = m.readV0(raw, len(SigningDomain)+1)
	case 1:
		err = m.readV1(raw, len(SigningDomain)+1)
	default:
		err = malformed("version", len(SigningDomain), "version %d is not known: versions 0 and 1 are read", m.version)
	}
	if err != nil {
		return nil, err
	}
	return m.transaction(raw), nil
}

func (m *offchain) readV0(raw []byte, at int) error {
	const fixed = 32 + 1 + 1
	if len(raw) < at+fixed {
		return malformed("application domain", at, "the header of version 0 is cut off: application domain (32 bytes), format, signers, length and text are expected")
	}
	m.application, m.format = raw[at:at+32], raw[at+32]
	if m.format > 2 {
		return malformed("format", at+32, "%d: 0, 1 and 2 are known", m.format)
	}
	at, err := m.readSigners(raw, at+33)
	if err != nil {
		return err
	}
	if len(raw) < at+2 || int(binary.LittleEndian.Uint16(raw[at:])) != len(raw)-at-2 {
		return malformed("length", at, "the length of the text, little endian, is not that of what follows")
	}
	m.text = raw[at+2:]
	if m.format < 2 && len(raw) > maxShort {
		return malformed("text", at+2, "the message has %d bytes with its header, one of format %d has at most %d: use format 2", len(raw), m.format, maxShort)
	}
	if m.format == 0 && bytes.ContainsFunc(m.text, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return malformed("text", at+2, "format 0 has printable ASCII only")
	}
	return m.checkText(at + 2)
}

func (m *offchain) readV1(raw []byte, at int) error {
	at, err := m.readSigners(raw, at)
	if err != nil {
		return err
	}
	for i := 1; i < len(m.signers); i++ {
		if bytes.Compare(m.signers[i-1][:], m.signers[i][:]) >= 0 {
			return malformed("signers", -1, "signer %d is not above the one before: they ascend, each once", i)
		}
	}
	m.text = raw[at:]
	return m.checkText(at)
}

func (m *offchain) readSigners(raw []byte, at int) (int, error) {
	if len(raw) <= at || raw[at] == 0 {
		return at, malformed("signers", at, "at least one signer is expected")
	}
	count := int(raw[at])
	at++
	if len(raw) < at+32*count {
		return at, malformed("signers", at, "%d signers of 32 bytes are cut off", count)
	}
	for i := range count {
		signer := [32]byte(raw[at+32*i:])
		for j := range m.signers {
			if m.signers[j] == signer {
				return at, malformed("signers", at+32*i, "signer %d is signer %d again", i, j)
			}
		}
		m.signers = append(m.signers, signer)
	}
	return at + 32*count, nil
}

func (m *offchain) checkText(at int) error {
	if len(m.text) == 0 {
		return malformed("text", at, "empty")
	}
	if problem := plaintext.Problem(m.text); problem != "" {
		return malformed("text", at, "%s: it could not be shown", problem)
	}
	return nil
}

func (m *offchain) transaction(raw []byte) chains.Transaction {
	fields := []chains.Field{chains.Text("kind", "off-chain message, version "+string('0'+m.version))}
	args := []chains.Arg{{Name: "message", Value: string(m.text)}}
	if m.version == 0 {
		fields = append(fields, chains.Text("application domain", applicationText(m.application)))
		args = append(args, chains.Arg{Name: "application", Value: applicationText(m.application)})
	}
	for _, signer := range m.signers {
		fields = append(fields, chains.AddressField("signer", solana.EncodeAddress(signer)))
	}
	fields = append(fields, chains.Text("message", string(m.text)))
	message := statement.Parts{
		Chain: solana.Name, Fields: fields, Bytes: raw,
		Effects: []chains.Effect{{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner,
			Function: "off-chain message", Args: args, Path: "message"}},
		Hazards: func([]chains.Effect, chains.Party) []chains.Hazard { return personal.TextHazards(m.text) },
	}
	return &named{message.Transaction(), m.signers}
}

// applicationText shows an application domain: text if it is padded text, else an
// address.
func applicationText(domain []byte) string {
	text := strings.TrimRight(string(domain), "\x00")
	if text != "" && plaintext.Problem([]byte(text)) == "" {
		return text
	}
	return "0x" + hex.EncodeToString(domain)
}

func malformed(field string, at int, format string, args ...any) error {
	return statement.Malformed(Name, field, at, format, args...)
}
