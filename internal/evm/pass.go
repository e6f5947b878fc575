package evm

import (
	"sync"

	"github.com/countersign-dev/countersign/chains"
)

// Pass is one pass over the calls of a transaction or a message on a network: who makes them, and
// what is asked for. It collects the effects of one call, or of one batch, at a time.
type Pass struct {
	*Network

	// Brief omits the arguments of functions from effects, and the fields that show calls:
	// hazards show neither.
	Brief bool

	// signer is the account that makes the transactions, nil if it is not known. It decides what
	// comes back to the signer.
	signer      *Address
	signerParty chains.Party // at it, once asked for

	own func(chains.Party) bool // whether an account is one of our own besides the signer; nil: none is

	room    []chains.Effect // see Room; nil: none is left
	emitter emitter
}

// emitter collects effects.
type emitter struct {
	effects []chains.Effect
	held    holdings
	signed  *Signed // of typed data
}

// Pass begins a pass over calls on the network.
func (n *Network) Pass() *Pass { return &Pass{Network: n} }

// Briefly begins a pass for effects from which only hazards are derived.
func (n *Network) Briefly() *Pass { return &Pass{Network: n, Brief: true} }

// fewEffects is how many effects most transactions have, the fee included.
const fewEffects = 3

// judgements are passes for hazards, with room for few effects. Without them a signature would
// allocate 1.5 KB more, and take some 4 % longer.
var judgements = sync.Pool{New: func() any { return new(judgement) }}

type judgement struct {
	pass Pass
	few  [fewEffects]chains.Effect
}

// Judge has hazards derived from effects in a brief pass. Nothing of the pass may be kept, nor the
// list of effects.
func (n *Network) Judge(judge func(pass *Pass)) {
	j := judgements.Get().(*judgement)
	j.pass.Network, j.pass.Brief, j.pass.room = n, true, j.few[:0]
	judge(&j.pass)
	*j = judgement{}
	judgements.Put(j)
}

// Room returns an empty list for a number of effects.
func (p *Pass) Room(effects int) []chains.Effect {
	if effects > cap(p.room) {
		return make([]chains.Effect, 0, effects)
	}
	room := p.room
	p.room = nil // it is lent once
	return room
}

// MadeBy sets the account that makes the transactions.
func (p *Pass) MadeBy(account Address) { p.signer, p.signerParty = &account, chains.Party{} }

// Party returns the account at an address.
func (p *Pass) Party(address Address) chains.Party {
	if p.signer == nil || address != *p.signer {
		return p.Network.Party(address)
	}
	if p.signerParty.IsNone() {
		p.signerParty = p.Network.Party(address)
	}
	return p.signerParty
}

// Signed is what a signature over typed data authorizes.
type Signed struct {
	Effects []chains.Effect       // SignerParty stands for an account that the bytes do not name
	Fields  func() []chains.Field // that show its calls
	Owners  []Claim
	Ends    []end

	// ByChain says that the chain itself verifies the signature, and no contract.
	ByChain bool

	// Delegate is the contract whose code runs as the account, none if there is none.
	Delegate chains.Party

	// Own changes, in place, effects that are other ones if some account is one of our
	// own keys; nil if none depends on that.
	Own func(effects []chains.Effect, own func(chains.Party) bool)

	// Problem says why no signature over the data is valid, Member which member of the
	// message is the cause. It is nil if one can be.
	Problem error
	Member  string
}

// Claim is an account in typed data whose own signature an effect requires.
type Claim struct {
	Party  chains.Party
	Effect int // index
}

// end is when a permission ends, or can be used for the last time.
type end struct {
	Effect int // index; −1: all of them
	Until  chains.Until
}
