// Package statement makes messages into what package chains calls a transaction,
// so that they go the same road: summary, effects, hazards, keys, a signature.
package statement

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/keystore"
)

// Parts are what a reader of messages knows about one.
type Parts struct {
	Chain   string // whose addresses sign: "ethereum", "solana" or "tron"
	Fields  []chains.Field
	Effects []chains.Effect // with SignerParty where the bytes do not name who signs

	// Hazards returns the dangers of effects in which the signer is resolved; with
	// a signer of none those that depend on no key.
	Hazards func(effects []chains.Effect, signer chains.Party) []chains.Hazard

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

// signWith finds the one key that signs.
type signWith interface {
	Locators() []keystore.Locator
}

// Request implements chains.Transaction.
func (m *message) Request(text string) (chains.Request, error) {
	var with signWith
	var err error
	switch m.parts.Chain {
	case solana.Name:
		with, err = solana.ReadSignWith(text)
	case tron.Name:
		with, err = tron.ReadSignWith(text)
	default:
		with, err = ethereum.ReadSignWith(text)
	}
	if err != nil {
		return nil, err
	}
	return &request{signWith: with, message: m}, nil
}

type request struct {
	signWith
	message *message
}

// With implements chains.Request.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &signing{message: r.message}
	var key keystore.Key
	var err error
	switch with := r.signWith.(type) {
	case *solana.SignWith:
		s.ed25519, key, err = with.Signer(keys)
	case *tron.SignWith:
		s.ecdsa, key, err = with.Signer(keys)
	case *ethereum.SignWith:
		s.ecdsa, key, err = with.Signer(keys)
	}
	if err != nil {
		return nil, err
	}
	s.id = key.ID()
	switch r.message.parts.Chain {
	case solana.Name:
		s.party = solana.PartyOf(key.PublicKey())
	case tron.Name:
		s.party = tron.PartyOf(key.PublicKey())
	default:
		s.party = ethereum.PartyOf(key.PublicKey())
	}
	return s, nil
}

type signing struct {
	message *message
	id      string
	party   chains.Party
	ecdsa   keystore.ECDSASigner
	ed25519 keystore.Ed25519Signer
}

// KeyIDs implements chains.Signing.
func (s *signing) KeyIDs() []string { return []string{s.id} }

// SignerView implements chains.Signing.
func (s *signing) SignerView() []chains.Field {
	return []chains.Field{chains.AddressField("signer", s.party.String())}
}

// Effects implements chains.Signing.
func (s *signing) Effects() []chains.Effect {
	return chains.ResolveSigner(slices.Clone(s.message.parts.Effects), s.party)
}

// Hazards implements chains.Signing.
func (s *signing) Hazards() []chains.Hazard { return s.message.parts.Hazards(s.Effects(), s.party) }

// AppendSigned implements chains.Signing. It appends the signature alone: r ‖ s ‖
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
