// Package statement implements chains.Transaction for messages: readers of messages
// provide the parts, and share how keys are found and used.
package statement

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

// Parts are what the reader of a message has found. Texts are written when they are asked
// for: a signature that no policy judges and no record keeps needs none.
type Parts struct {
	Chain chains.MessageSigner // whose keys sign it
	Text  *Text                // nil if the message is no text; otherwise it is in place of Fields to Own

	Fields func() []chains.Field

	// Effects lack their arguments, which no hazard depends on. SignerParty stands for the
	// signer if the bytes do not name it.
	Effects []chains.Effect

	// Whole returns the effects with their arguments; nil if they have none.
	Whole func() []chains.Effect

	// Hazards returns the hazards of the effects, in which the signer has been
	// resolved. For the zero signer it returns those that depend on no key.
	Hazards func(effects []chains.Effect, signer chains.Party) []chains.Hazard

	// Own changes, in place, effects that are other ones if some account is one of our
	// own keys. Nil if none depends on that.
	Own func(effects []chains.Effect, own func(chains.Party) bool)

	Digest [32]byte // what a secp256k1 key signs
	Bytes  []byte   // what an Ed25519 key signs; nil for the others
}

// Text is a message that is a text, in one of its carriers. It has one effect, on which no
// hazard depends: it is made when it is asked for.
type Text struct {
	*texts.Text
	Name   string // such as "personal message"; a sign-in is called one
	Kind   string // how it is shown; empty: by its name
	MaxArg int    // the length of the longest text that a policy sees, in bytes

	// More returns what the carrier says besides the text; nil if it says nothing.
	More func() ([]chains.Field, []chains.Arg)

	// Unknown is a hazard of the carrier's if the text is not known. It may have no name.
	Unknown chains.Hazard
}

func (t *Text) name() string {
	if t.IsSignIn() {
		return "sign in"
	}
	return t.Name
}

func (t *Text) more() ([]chains.Field, []chains.Arg) {
	if t.More == nil {
		return nil, nil
	}
	return t.More()
}

// fields returns what is shown.
func (t *Text) fields() []chains.Field {
	more, _ := t.more()
	kind := t.Kind
	if kind == "" {
		kind = t.name()
	}
	return append([]chains.Field{chains.Text("kind", kind)}, t.Fields(more...)...)
}

// effects returns the one effect: a message of the signer's.
func (t *Text) effects() []chains.Effect {
	_, args := t.more()
	return []chains.Effect{{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, Domain: t.Domain(),
		Function: t.name(), Args: append(t.Args(t.MaxArg), args...), Path: textPath}}
}

// The path of a text's effect, and its index: it is the only one.
const (
	textPath   = "message"
	textEffect = 0
)

func (t *Text) hazards(signer chains.Party) []chains.Hazard {
	hazards := t.Hazards(signer, textEffect)
	if last := len(hazards) - 1; t.Unknown.Name != "" && last >= 0 && hazards[last].Name == texts.HazardFreeText {
		hazards = append(hazards, t.Unknown.OnEffect(textEffect))
	}
	return hazards
}

// Transaction returns the message as a transaction.
func (p Parts) Transaction() *Message { return &Message{parts: p} }

// Message is a message as a transaction.
type Message struct {
	parts Parts
	whole []chains.Effect // once asked for
}

var _ chains.Transaction = (*Message)(nil)

// Outline is implemented by transactions whose chain and number of effects are known before
// any text is written.
type Outline interface {
	ChainName() string
	EffectCount() int
}

var _ Outline = (*Message)(nil)

// ChainName implements Outline.
func (m *Message) ChainName() string { return m.parts.Chain.Name() }

// EffectCount implements Outline.
func (m *Message) EffectCount() int {
	if m.parts.Text != nil {
		return 1
	}
	return len(m.parts.Effects)
}

// Summary implements chains.Transaction.
func (m *Message) Summary() chains.Summary {
	fields := m.parts.Fields
	if m.parts.Text != nil {
		fields = m.parts.Text.fields
	}
	return chains.Summary{Chain: m.ChainName(), Effects: m.Effects(), Fields: fields()}
}

// Effects implements chains.Transaction.
func (m *Message) Effects() []chains.Effect {
	switch {
	case m.whole != nil:
	case m.parts.Text != nil:
		m.whole = m.parts.Text.effects()
	case m.parts.Whole != nil:
		m.whole = m.parts.Whole()
	default:
		return m.parts.Effects
	}
	return m.whole
}

var _ chains.Caller = (*Message)(nil)

// Calls implements chains.Caller: a text, for a reader to know.
func (m *Message) Calls() []chains.Call {
	if m.parts.Text == nil {
		return nil
	}
	return []chains.Call{{Path: textPath, From: chains.SignerParty(), Text: m.parts.Text.String()}}
}

// Hazards implements chains.Transaction.
func (m *Message) Hazards() []chains.Hazard {
	if m.parts.Text != nil {
		return m.parts.Text.hazards(chains.Party{})
	}
	return m.parts.Hazards(m.parts.Effects, chains.Party{})
}

// Request implements chains.Transaction.
func (m *Message) Request(signWith string) (chains.Request, error) {
	key, err := m.parts.Chain.MessageKey(signWith)
	if err != nil {
		return nil, err
	}
	return &request{key, m}, nil
}

type request struct {
	chains.MessageKey
	message *Message
}

// With implements chains.Request.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	key, party, err := r.Of(keys)
	if err != nil {
		return nil, err
	}
	s := &signing{message: r.message, id: key.ID(), party: party}
	if r.message.parts.Bytes != nil {
		s.ed25519, err = keystore.AsEd25519(key)
	} else {
		s.ecdsa, err = keystore.AsECDSA(key)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

type signing struct {
	message *Message
	id      string
	party   chains.Party
	ecdsa   keystore.ECDSASigner
	ed25519 keystore.Ed25519Signer
	own     chains.Parties
}

// ResolveAccounts implements chains.AccountSigning.
func (s *signing) ResolveAccounts(accounts chains.Accounts) {
	if s.message.parts.Own != nil {
		s.own = chains.DecisiveParties(s.message.parts.Effects, accounts)
	}
}

// KeyIDs implements chains.Signing.
func (s *signing) KeyIDs() []string { return []string{s.id} }

// SignerView implements chains.Signing.
func (s *signing) SignerView() []chains.Field {
	return []chains.Field{chains.AddressField("signer", s.party.String())}
}

// Effects implements chains.Signing.
func (s *signing) Effects() []chains.Effect { return s.resolved(s.message.Effects()) }

// Hazards implements chains.Signing.
func (s *signing) Hazards() []chains.Hazard {
	if text := s.message.parts.Text; text != nil {
		return text.hazards(s.party)
	}
	return s.message.parts.Hazards(s.resolved(s.message.parts.Effects), s.party)
}

// resolved returns a copy of effects with what depends on the signer and on our own accounts.
func (s *signing) resolved(effects []chains.Effect) []chains.Effect {
	effects = chains.ResolveSigner(slices.Clone(effects), s.party)
	if s.message.parts.Own != nil {
		s.message.parts.Own(effects, s.own.With(s.party))
	}
	return effects
}

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
