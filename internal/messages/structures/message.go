// Package structures reads typed data (EIP-712) and derives the effects of widely used
// structures: permits, orders, transactions of smart accounts.
//
// A structure is recognized by its whole encoded type and, if its meaning depends on one contract,
// by the address of that contract. Everything else is an undecoded message.
package structures

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Verifier is a chain whose contracts verify typed data.
type Verifier struct {
	Chain chains.MessageSigner

	// Contracts returns the network of the contracts of a domain's chain id, which is nil if
	// the domain has none.
	Contracts func(chainID *big.Int) *evm.Network

	// MaxFee bounds the fee of a message, in whole units of the native asset; 0 is the bound
	// of the network.
	MaxFee float64
}

// Parse reads typed data from JSON text. The error is a *chains.ParseError, which wraps
// chains.ErrUnsupported if contracts of another chain verify the data.
func Parse(text chains.Message, by Verifier) (chains.Transaction, error) {
	data, err := eip712.Parse(text.Bytes)
	if err != nil {
		return nil, err
	}
	if data.Chain != by.Chain.Name() {
		return nil, &chains.ParseError{Kind: chains.ErrUnsupported, Chain: eip712.Name, Field: "domain.chainId",
			Offset: -1, Problem: fmt.Sprintf("the domain is one of %[1]s, and this engine does not sign for %[1]s", data.Chain)}
	}
	r := &reading{document: document{data: data, message: &data.Message}, now: text.Now, maxFee: by.MaxFee}
	r.readDomain()
	r.network = by.Contracts(r.domain.chainID)
	if r.read(); r.err != nil {
		return nil, r.err
	}
	return &statement.Message{By: by.Chain, Content: r, Digest: data.Digest()}, nil
}

func (r *reading) read() {
	encoded := r.data.EncodeType(r.data.PrimaryType)
	if s, ok := byType[leafType(encoded)]; ok && (s.at == nil || s.at(&r.document)) {
		s.read(r)
		r.sold(0)
	}
	if len(r.effects) == 0 {
		typed := evm.Typed{Type: encoded, Name: r.domain.name, Version: r.domain.version, Contract: r.domain.contract,
			Members: r.message.List}
		if signed, ok := r.network.Pass().ReadTyped(typed); ok {
			r.act(signed)
			r.relay()
		}
	}
	if r.data.PrimaryType == "BulkOrder" && len(r.effects) == 0 {
		index := r.undecoded()
		r.danger(HazardHiddenContents, index, "a signature over the root is valid for every order in the tree")
	}
	if len(r.effects) == 0 {
		index := r.undecoded()
		if m := r.message.List; len(m) == 1 && m[0].Type == "bytes32" {
			r.danger(HazardHiddenContents, index,
				"%q is 32 bytes, like a hash or a root: the message does not contain what was hashed",
				r.data.PrimaryType+"."+m[0].Name)
		}
	}
	r.cut()
	for i := range r.effects {
		effect := &r.effects[i]
		effect.Function = cmp.Or(effect.Function, r.data.PrimaryType)
	}
	r.domainHazards()
	if of := texts.KeyOfType(encoded); of != "" {
		r.danger(texts.HazardKeyDerivation, whole, texts.KeyDerivation, of)
	} else {
		r.keyHazard(r.message)
	}
}

// act adds what the message does as an act that calls of contracts do too.
func (r *reading) act(signed *evm.Signed) {
	r.effects, r.shown, r.own, r.byChain = signed.Effects, signed.Fields, signed.Own, signed.ByChain
	if signed.Problem != nil {
		r.err = statement.Malformed(eip712.Name, "message."+signed.Member, -1, "%v", signed.Problem)
	}
	r.owners = append(r.owners, signed.Owners...)
	for _, end := range signed.Ends {
		r.ends(end.Until, end.Effect)
	}
	if !signed.Delegate.IsNone() {
		r.danger(HazardDelegatecall, whole,
			"the code of %s runs as the Safe and may do anything with it", signed.Delegate)
	}
}

// Fields implements statement.Content: the domain, the message and the decoded calls.
func (r *reading) Fields() []chains.Field {
	fields := []chains.Field{chains.Text("kind", "typed data (EIP-712)"), chains.Text("type", r.data.PrimaryType),
		chains.List("domain", r.membersOf(&r.data.Domain)...), chains.List("message", r.membersOf(r.message)...)}
	if r.shown != nil {
		fields = append(fields, r.shown()...)
	}
	return fields
}

// Effects implements statement.Content. Those that have no arguments of a call have those of the
// message, which no hazard depends on.
func (r *reading) Effects(signer statement.Signer) []chains.Effect {
	if r.args == nil {
		r.args = r.plainMembers()
	}
	effects := slices.Clone(r.effects)
	for i := range effects {
		if effects[i].Args == nil {
			effects[i].Args = r.args
		}
	}
	return signer.Resolve(effects, r.own)
}

// OwnEffects returns the effects if some account is one of our own keys.
func (r *reading) OwnEffects() []chains.Effect {
	if r.own == nil {
		return nil
	}
	return r.effects
}

// Calls implements chains.Caller: the message as a call of its verifying contract, if the domain
// names one.
func (r *reading) Calls() []chains.Call {
	if r.domain.contract == nil {
		return nil
	}
	typed := &chains.Typed{Type: r.data.EncodeType(r.data.PrimaryType), DomainName: r.domain.name,
		DomainVersion: r.domain.version, Members: r.message.List}
	return []chains.Call{{Path: "message", Chain: r.network.ID, From: chains.SignerParty(),
		To: r.network.Party(*r.domain.contract), Typed: typed}}
}
