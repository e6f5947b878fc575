package evm

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Acting is a transaction whose effects are those of calls.
type Acting interface {
	// Contracts returns the network whose contracts the transaction calls.
	Contracts() *Network

	// EffectsOn returns the effects on that network, in which the signer is not yet known.
	EffectsOn(network *Network) []chains.Effect

	// HazardsOf returns the hazards of the effects for a signer, or without one those that
	// do not depend on the key.
	HazardsOf(effects []chains.Effect, signer chains.Party) []chains.Hazard

	// MayOperate reports whether the transaction is long enough for a user operation.
	MayOperate() bool

	// Targets returns the accounts that are called with data.
	Targets() []Address
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

// HazardsOf returns the hazards of a transaction that do not depend on the key.
func HazardsOf(tx Acting) []chains.Hazard {
	return tx.Contracts().Judged(func(brief *Network) ([]chains.Effect, []chains.Hazard) {
		effects := tx.EffectsOn(brief)
		return effects, tx.HazardsOf(effects, chains.Party{})
	})
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

// Signing returns the transaction with the one key that can sign it, and that key. The
// errors are those of Signer.
func (s *SignWith) Signing(tx Acting, keys []keystore.Key) (Signing, keystore.Key, error) {
	signer, key, err := s.Signer(keys)
	if err != nil {
		return Signing{}, nil, err
	}
	address := AddressOf(key.PublicKey())
	return Signing{Acts: tx, Key: signer, ID: key.ID(), Address: address, Account: address}, key, nil
}

// KeyIDs implements chains.Signing.
func (s *Signing) KeyIDs() []string { return []string{s.ID} }

// Effects implements chains.Signing.
func (s *Signing) Effects() []chains.Effect {
	effects, _ := s.resolved(s.Acts.Contracts())
	return effects
}

// Hazards implements chains.Signing.
func (s *Signing) Hazards() []chains.Hazard {
	return s.Acts.Contracts().Judged(func(brief *Network) ([]chains.Effect, []chains.Hazard) {
		effects, signer := s.resolved(brief)
		return effects, s.Acts.HazardsOf(effects, signer)
	})
}

// resolved returns the effects with what depends on the signer and on our own accounts.
func (s *Signing) resolved(network *Network) (effects []chains.Effect, signer chains.Party) {
	network.Signer = &s.Account
	if len(s.own) > 0 {
		network.Own = s.called
	}
	signer = network.Party(s.Account)
	effects = chains.ResolveSigner(s.Acts.EffectsOn(network), signer)
	ClaimFees(effects, s.own.With(signer))
	return effects, signer
}

// called reports whether an account is the key's, or one of those that are called and are our own.
func (s *Signing) called(party chains.Party) bool {
	return string(party.Address()) == string(s.Account[:]) || slices.ContainsFunc(s.own, party.Equal)
}

// ResolveAccounts implements chains.AccountSigning.
func (s *Signing) ResolveAccounts(accounts chains.Accounts) {
	s.own = nil
	if s.Acts.MayOperate() {
		network := s.Acts.Contracts()
		network.Brief = true
		s.own = chains.DecisiveParties(s.Acts.EffectsOn(network), accounts)
	}
	targets := s.Acts.Targets()
	for i := range targets {
		if _, ok := accounts.Controls(targets[i][:]); ok {
			s.own = append(s.own, s.Acts.Contracts().Party(targets[i]))
		}
	}
}
