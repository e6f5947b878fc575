// Package statement implements chains.Transaction for messages: readers of messages
// provide the parts, and share how keys are found and used.
package statement

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// Parts are what the reader of a message has found.
type Parts struct {
	Chain   string // "ethereum", "solana", "tron" or "bitcoin": the chain of the signer's address
	Fields  []chains.Field
	Effects []chains.Effect // SignerParty stands for the signer if the bytes do not name it

	// Hazards returns the hazards of the effects, in which the signer has been
	// resolved. For the zero signer it returns those that depend on no key.
	Hazards func(effects []chains.Effect, signer chains.Party) []chains.Hazard

	// Own changes, in place, effects that are other ones if some account is one of our
	// own keys. Nil if none depends on that.
	Own func(effects []chains.Effect, own func(chains.Party) bool)

	Digest [32]byte // what a secp256k1 key signs
	Bytes  []byte   // what an Ed25519 key signs; nil for the others
}

// Transaction returns the message as a transaction.
func (p Parts) Transaction() chains.Transaction { return &message{p} }

type message struct{ parts Parts }

var _ chains.Transaction = (*message)(nil)

// Summary implements chains.Transaction.
func (m *message) Summary() chains.Summary {
	return chains.Summary{Chain: m.parts.Chain, Effects: m.parts.Effects, Fields: m.parts.Fields}
}

// Effects implements chains.Transaction.
func (m *message) Effects() []chains.Effect { return m.parts.Effects }

// Hazards implements chains.Transaction.
func (m *message) Hazards() []chains.Hazard {
	return m.parts.Hazards(m.parts.Effects, chains.Party{})
}

// Request implements chains.Transaction.
func (m *message) Request(signWith string) (chains.Request, error) {
	r := &request{message: m}
	var err error
	switch m.parts.Chain {
	case solana.Name:
		r.locator, err = solana.ReadSignWith(signWith)
	case tron.Name:
		r.locator, err = tron.ReadSignWith(signWith)
	case bitcoin.Name:
		r.locator, err = bitcoin.ReadSignWith(signWith)
	default:
		var with evm.SignWith
		with, err = evm.ReadSignWith(ethereum.Name, signWith)
		r.locator = &with
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// locator is the signWith that a chain has read.
type locator interface {
	Locators() []keystore.Locator
}

type request struct {
	locator
	message *message
}

// With implements chains.Request.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &signing{message: r.message}
	var key keystore.Key
	var partyOf func(keystore.PublicKey) chains.Party
	var err error
	switch with := r.locator.(type) {
	case *solana.SignWith:
		partyOf = solana.PartyOf
		s.ed25519, key, err = with.Signer(keys)
	case *tron.SignWith:
		partyOf = tron.PartyOf
		s.ecdsa, key, err = with.Signer(keys)
	case *bitcoin.SignWith:
		partyOf = with.PartyOf
		s.ecdsa, key, err = with.Signer(keys)
	case *evm.SignWith:
		partyOf = evm.PartyOf
		s.ecdsa, key, err = with.Signer(keys)
	}
	if err != nil {
		return nil, err
	}
	s.id, s.party = key.ID(), partyOf(key.PublicKey())
	return s, nil
}

type signing struct {
	message *message
	id      string
	party   chains.Party
	ecdsa   keystore.ECDSASigner
	ed25519 keystore.Ed25519Signer
	own     chains.Parties
}

// Own implements chains.OwnReader.
func (s *signing) Own(mine func(address []byte) (bool, error)) (err error) {
	if s.message.parts.Own != nil {
		s.own, err = chains.OwnParties(s.message.parts.Effects, mine)
	}
	return err
}

// KeyIDs implements chains.Signing.
func (s *signing) KeyIDs() []string { return []string{s.id} }

// SignerView implements chains.Signing.
func (s *signing) SignerView() []chains.Field {
	return []chains.Field{chains.AddressField("signer", s.party.String())}
}

// Effects implements chains.Signing.
func (s *signing) Effects() []chains.Effect {
	effects := chains.ResolveSigner(slices.Clone(s.message.parts.Effects), s.party)
	if s.message.parts.Own != nil {
		s.message.parts.Own(effects, s.own.With(s.party))
	}
	return effects
}

// Hazards implements chains.Signing.
func (s *signing) Hazards() []chains.Hazard { return s.message.parts.Hazards(s.Effects(), s.party) }

// AppendSigned implements chains.Signing. It appends only the signature: r ‖ s ‖
// recovery id (0 or 1), or the 64 bytes of Ed25519.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	if s.ed25519 != nil {
		signature, err := s.ed25519.SignEd25519(ctx, s.message.parts.Bytes)
		if err != nil {
			return nil, err
		}
		return append(dst, signature[:]...), nil
	}
	signature, err := s.ecdsa.SignECDSA(ctx, s.message.parts.Digest)
	if err != nil {
		return nil, err
	}
	return append(dst, signature[:]...), nil
}

// Malformed returns the error of a reader of messages. kind says what it reads.
func Malformed(kind, field string, offset int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: kind, Field: field, Offset: offset, Problem: fmt.Sprintf(format, args...)}
}
