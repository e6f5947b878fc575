package solana

import (
	"github.com/countersign-dev/countersign/chains"
)

// findPassages tells of each account that gets something whether it is a passage, and whose it is in
// the end.
func findPassages(effects []effect) {
	if len(effects) < 2 { // the fee
		return
	}
	for i := range effects {
		e := &effects[i]
		if e.To.Address() == nil || e.Amount.IsNone() {
			continue
		}
		e.Owners = nil
		for j := range effects {
			other := &effects[j]
			e.Passage = e.Passage || other.takesOver(e.To)
			e.Owners = other.appendOwners(e.Owners, e.To)
		}
	}
}

// takesOver reports whether an effect makes an account a passage: it creates or initializes it,
// gives it to another owner, closes it, or takes from it by the account's own signature, as the
// programs allow before it is initialized.
func (e *effect) takesOver(account chains.Party) bool {
	switch {
	case e.initialized.Equal(account), e.Kind == chains.KindCreate && e.To.Equal(account):
		return true
	case e.Kind == chains.KindAuthority || e.Kind == chains.KindStake:
		return e.Account.Equal(account)
	}
	return e.From.Equal(account) && (e.alone || e.Asset.IsNative() && e.Amount.Bound == chains.BoundAll)
}

// appendOwners appends whom an effect gives control of an account.
func (e *effect) appendOwners(owners chains.Parties, account chains.Party) chains.Parties {
	switch {
	case (e.Kind == chains.KindAuthority || e.Kind == chains.KindStake) && e.Account.Equal(account) && !e.To.IsNone():
		owners = append(owners, e.To)
	case e.Kind == chains.KindCreate && e.To.Equal(account) && !e.owner.IsNone():
		owners = append(owners, e.owner)
	}
	return owners
}
