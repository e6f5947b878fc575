// Package statement implements chains.Transaction for messages: readers of messages
// provide the content, and share how keys are found and used.
package statement

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Content is what the reader of a message has found. Texts are written when they are asked
// for: a signature that no policy judges and no record keeps needs none.
type Content interface {
	// Fields returns what is shown.
	Fields() []chains.Field

	// Effects returns what a signature does, as a list of its own.
	Effects(signer Signer) []chains.Effect

	// Hazards returns the hazards of these effects and those of the message.
	Hazards(signer Signer) []chains.Hazard
}

// ownContent is content with effects that are other ones if some account is one of our own keys.
type ownContent interface {
	// OwnEffects returns the effects in which such accounts are; none if nothing depends on them.
	OwnEffects() []chains.Effect
}

// Signer is who signs a message. The zero Signer is not known yet: chains.SignerParty stands
// for it, and there are only the hazards that depend on no key.
type Signer struct {
	Party chains.Party
	own   chains.Parties
}

// Resolve replaces SignerParty in effects, in place. own changes those that depend on which accounts
// are our own; nil if none does.
func (s Signer) Resolve(effects []chains.Effect, own func([]chains.Effect, func(chains.Party) bool)) []chains.Effect {
	if s.Party.IsNone() {
		return effects
	}
	effects = chains.ResolveSigner(effects, s.Party)
	if own != nil {
		own(effects, s.own.With(s.Party))
	}
	return effects
}

// Message is a message as a transaction.
type Message struct {
	By      chains.MessageSigner // the chain whose keys sign it
	Content Content
	Digest  [32]byte // what a secp256k1 key signs
	Bytes   []byte   // what an Ed25519 key signs; nil for the others

	// Admits refuses a key that the message does not name as a signer; nil admits every key.
	Admits func(keystore.PublicKey) error
}

var (
	_ chains.Transaction = (*Message)(nil)
	_ chains.Caller      = (*Message)(nil)
)

func (m *Message) Chain() string { return m.By.Name() }

func (m *Message) Summary() chains.Summary {
	return chains.Summary{Chain: m.Chain(), Effects: m.Effects(), Fields: m.Content.Fields()}
}

func (m *Message) Effects() []chains.Effect { return m.Content.Effects(Signer{}) }
func (m *Message) Hazards() []chains.Hazard { return m.Content.Hazards(Signer{}) }

// Calls implements chains.Caller: what readers can know of the content.
func (m *Message) Calls() []chains.Call {
	if caller, ok := m.Content.(chains.Caller); ok {
		return caller.Calls()
	}
	return nil
}

func (m *Message) Request(signWith string) (chains.Request, error) {
	key, err := m.By.MessageKey(signWith)
	if err != nil {
		return nil, err
	}
	return &request{key, m}, nil
}

type request struct {
	chains.MessageKey
	message *Message
}

func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	keys, err := r.message.admitted(keys)
	if err != nil {
		return nil, err
	}
	key, party, err := r.Of(keys)
	if err != nil {
		return nil, err
	}
	s := &signing{message: r.message, id: key.ID(), by: Signer{Party: party}}
	if r.message.Bytes != nil {
		s.ed25519, err = keystore.AsEd25519(key)
	} else {
		s.ecdsa, err = keystore.AsECDSA(key)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// admitted returns the keys that the message admits. If it admits none, the error says why.
func (m *Message) admitted(keys []keystore.Key) (admitted []keystore.Key, err error) {
	if m.Admits == nil {
		return keys, nil
	}
	for _, key := range keys {
		if err = m.Admits(key.PublicKey()); err == nil {
			admitted = append(admitted, key)
		}
	}
	if len(admitted) > 0 {
		err = nil
	}
	return admitted, err
}

type signing struct {
	message *Message
	id      string
	by      Signer
	ecdsa   keystore.ECDSASigner
	ed25519 keystore.Ed25519Signer
}

func (s *signing) ResolveAccounts(accounts chains.Accounts) {
	if content, ok := s.message.Content.(ownContent); ok {
		s.by.own = chains.DecisiveParties(content.OwnEffects(), accounts)
	}
}

func (s *signing) KeyIDs() []string { return []string{s.id} }

func (s *signing) SignerView() []chains.Field {
	return []chains.Field{chains.AddressField("signer", s.by.Party.String())}
}

func (s *signing) Effects() []chains.Effect { return s.message.Content.Effects(s.by) }

func (s *signing) Hazards() []chains.Hazard { return s.message.Content.Hazards(s.by) }

// AppendSigned implements chains.Signing. It appends only the signature: r ‖ s ‖
// recovery id (0 or 1), or the 64 bytes of Ed25519.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	if s.ed25519 != nil {
		signature, err := s.ed25519.SignEd25519(ctx, s.message.Bytes)
		if err != nil {
			return nil, err
		}
		return append(dst, signature[:]...), nil
	}
	signature, err := s.ecdsa.SignECDSA(ctx, s.message.Digest)
	if err != nil {
		return nil, err
	}
	return append(dst, signature[:]...), nil
}

// Malformed returns the error of a reader of messages. kind says what it reads.
func Malformed(kind, field string, offset int, format string, args ...any) *chains.ParseError {
	return &chains.ParseError{Kind: chains.ErrMalformed, Chain: kind, Field: field, Offset: offset,
		Problem: fmt.Sprintf(format, args...)}
}
