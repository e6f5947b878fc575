package evm

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Acting is a transaction whose effects are those of calls.
type Acting interface {
	// Contracts returns the network whose contracts the transaction calls. Base has it.
	Contracts() *Network

	// EffectsIn returns the effects in a pass on that network, in which the signer is not yet known.
	EffectsIn(pass *Pass) []chains.Effect

	// HazardsOf returns the hazards of the effects for a signer, or without one those that
	// do not depend on the key.
	HazardsOf(effects []chains.Effect, signer chains.Party) []chains.Hazard

	// MayOperate reports whether the transaction is long enough for a user operation.
	MayOperate() bool

	// Targets returns the accounts that are called with data.
	Targets() []Address

	// Ready returns the transaction with the key that signs it. It refuses what the network would
	// not accept from the key.
	Ready(signing Signing, key keystore.Key) (chains.Signing, error)
}

// Base is the part of a transaction that follows from how it acts. It implements
// chains.Transaction but for Summary.
type Base struct {
	Chain   string   // name of the chain
	Network *Network // whose contracts the transaction calls
	Acts    Acting   // the transaction itself
}

// Contracts returns the network.
func (b *Base) Contracts() *Network      { return b.Network }
func (b *Base) Effects() []chains.Effect { return b.Acts.EffectsIn(b.Network.Pass()) }

func (b *Base) Hazards() []chains.Hazard {
	var hazards []chains.Hazard
	b.Network.Judge(func(pass *Pass) { hazards = b.Acts.HazardsOf(b.Acts.EffectsIn(pass), chains.Party{}) })
	return hazards
}

func (b *Base) Request(signWith string) (chains.Request, error) {
	with, err := ReadSignWith(b.Chain, signWith)
	if err != nil {
		return nil, err
	}
	return &request{SignWith: with, acts: b.Acts}, nil
}

type request struct {
	SignWith
	acts Acting
}

// With implements chains.Request. Any secp256k1 key can sign; if signWith is an address, only the
// key at it.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	signer, key, err := r.Signer(keys)
	if err != nil {
		return nil, err
	}
	address := AddressOf(key.PublicKey())
	return r.acts.Ready(Signing{Acts: r.acts, Key: signer, ID: key.ID(), Address: address, Account: address}, key)
}

// LeastNested is the length in bytes of the shortest call of a function with a call in its
// arguments that has data itself: a selector and five words.
const LeastNested = 4 + 5*32

// TargetsOf returns the accounts that are called in calls.
func TargetsOf(calls []chains.Call) []Address {
	targets := make([]Address, len(calls))
	for i := range calls {
		copy(targets[i][:], calls[i].To.Address())
	}
	return targets
}

// Signing is a transaction with the key that signs it. It implements chains.Signing but
// for what the chain signs and shows.
type Signing struct {
	Acts    Acting
	Key     keystore.ECDSASigner
	ID      string  // of the key
	Address Address // of the key
	Account Address // for which the key signs: at its own address, unless changed
	own     chains.Parties
}

func (s *Signing) KeyIDs() []string { return []string{s.ID} }

func (s *Signing) Effects() []chains.Effect {
	effects, _ := s.resolved(s.Acts.Contracts().Pass())
	return effects
}

func (s *Signing) Hazards() []chains.Hazard {
	var hazards []chains.Hazard
	s.Acts.Contracts().Judge(func(pass *Pass) { hazards = s.Acts.HazardsOf(s.resolved(pass)) })
	return hazards
}

// resolved returns the effects with what depends on the signer and on our own accounts.
func (s *Signing) resolved(pass *Pass) (effects []chains.Effect, signer chains.Party) {
	pass.signer = &s.Account
	if len(s.own) > 0 {
		pass.own = s.called
	}
	signer = pass.Party(s.Account)
	effects = chains.ResolveSigner(s.Acts.EffectsIn(pass), signer)
	claimFees(effects, s.own.With(signer))
	return effects, signer
}

// called reports whether an account is the key's, or one of those that are called and are our own.
func (s *Signing) called(party chains.Party) bool {
	return string(party.Address()) == string(s.Account[:]) || slices.ContainsFunc(s.own, party.Equal)
}

func (s *Signing) ResolveAccounts(accounts chains.Accounts) {
	s.own = nil
	if s.Acts.MayOperate() {
		s.Acts.Contracts().Judge(func(pass *Pass) { s.own = chains.DecisiveParties(s.Acts.EffectsIn(pass), accounts) })
	}
	targets := s.Acts.Targets()
	for i := range targets {
		if _, ok := accounts.Controls(targets[i][:]); ok {
			s.own = append(s.own, s.Acts.Contracts().Party(targets[i]))
		}
	}
}
