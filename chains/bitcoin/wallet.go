package bitcoin

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

var _ chains.WalletSigning = (*signing)(nil)

func (s *signing) ResolveAccounts(accounts chains.Accounts) {
	s.accounts, s.owned = accounts, nil
}

// ownership returns whose the inputs and outputs are, as far as the accounts tell.
func (s *signing) ownership() *ownership {
	if s.owned == nil {
		s.owned = &ownership{tx: s.tx, registered: registered{wallets: s.accounts.Registered(), accounts: s.accounts,
			keys: s.keys}}
		s.owned.registered.find(s.tx)
	}
	return s.owned
}

// Hazards implements chains.Signing: the dangers of the signatures to be made.
func (s *signing) Hazards() []chains.Hazard { return s.plan.hazards() }

// Effects implements chains.Signing: the transaction's effects, with the outputs that the keys' own
// signatures commit to. Change is set on what returns to the wallet that pays it. If only a part of
// an output does, the rest is a transfer of its own, after the other effects: the sum of what is
// not change is exactly what leaves the wallets, if this request signs every input, and never less.
func (s *signing) Effects() []chains.Effect {
	p := s.plan
	effects := p.effects()
	if s.tx.message != nil {
		return effects
	}
	owned := s.ownership()
	back := owned.change(p.outcomes, p.signed)
	for i, o := range p.outcomes {
		e := &effects[i]
		if o.fate != spendable {
			continue
		}
		if to := owned.output(o.output); to.ours {
			e.Controlled = chains.ControlledYes
		} else if to.unspendable {
			e.Controlled = chains.ControlledNo
		}
		switch rest := s.tx.packet.Outputs[o.output].Amount - back[o.output]; {
		case rest == 0:
			e.Change = true
		case back[o.output] > 0 && len(effects) < chains.MaxEffects:
			paid := *e
			paid.Amount = chains.ExactlyUint(rest)
			e.Change, e.Amount = true, chains.ExactlyUint(back[o.output])
			effects = append(effects, paid)
		}
	}
	return effects
}

// ours returns the inputs that belong to keys of the organization, alone or with others,
// whether or not this request signs them.
func (s *signing) ours() (inputs []*input) {
	for i := range s.tx.inputs {
		if s.ownership().input(i).ours || s.signer(i) != nil {
			inputs = append(inputs, &s.tx.inputs[i])
		}
	}
	return inputs
}

// flow adds up what the organization's inputs spend and how much of it comes back, in satoshi.
func (s *signing) flow() (spent, back uint64) {
	inputs := s.ours()
	for _, in := range inputs {
		spent += in.amount
	}
	for _, amount := range s.ownership().change(s.plan.outcomes, inputs) {
		back += amount
	}
	return spent, back
}

// Balance implements chains.WalletSigning: the satoshi that leave the wallets. Outputs
// that a signature leaves open do not count as coming back. The balance is unknown if a
// lie about an amount could change it.
func (s *signing) Balance() chains.Quantity {
	if s.tx.message != nil {
		return chains.ExactlyUint(0)
	}
	p := s.plan
	if p.unproven != nil {
		return chains.UnknownQuantity()
	}
	spent, back := s.flow()
	if slices.Contains(p.open, true) {
		return chains.AtMost(new(big.Int).SetUint64(spent))
	}
	return chains.ExactlyUint(spent - back)
}

func (s *signing) Registered() (use chains.RegisteredUse) {
	known := s.ownership().registered
	add := func(b belonging) {
		if b.of != nil && !slices.ContainsFunc(use.Used,
			func(other keystore.Registration) bool { return other.Digest() == b.of.Digest() }) {
			use.Used = append(use.Used, *b.of)
		}
	}
	use.Only = s.tx.message == nil
	for _, in := range s.plan.signed {
		b := known.inputs[in.index]
		add(b)
		use.Only = use.Only && b.of != nil && b.stray == "" && len(use.Used) == 1
		use.Mixed = use.Mixed || b.of != nil || b.stray != ""
		if b.stray != "" && len(use.Hazards) == 0 && s.tx.message == nil {
			use.Hazards = []chains.Hazard{{Name: HazardUnregisteredScript,
				Detail: fmt.Sprintf("input %d: %s", in.index, b.stray)}}
		}
	}
	use.Mixed = use.Mixed && !use.Only
	for _, b := range known.all {
		add(b)
	}
	return use
}

// ChargeID implements chains.WalletSigning: it is the same for every request that signs
// the same transaction for the same wallet, whatever its PSBT carries besides.
func (s *signing) ChargeID(w keystore.Registration) [32]byte {
	identity, unsigned := w.Identity(), sha256.Sum256(s.tx.raw)
	return sha256.Sum256(slices.Concat([]byte("countersign charge of a registered wallet v2\n"), identity[:],
		unsigned[:]))
}
