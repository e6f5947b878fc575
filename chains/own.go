package chains

import "slices"

// OwnReader is implemented by signings of which some effects are other ones if an account
// in them is controlled by a key of the organization: the fee of a user operation
// (ERC-4337) whose paymaster is such an account is paid by the organization, and the init
// code of a sender that is one is a call of that account.
type OwnReader interface {
	// Own asks mine about the accounts that matter, given in binary form, besides the
	// signer's. Effects and Hazards follow the answers. The error is that of mine.
	Own(mine func(address []byte) (bool, error)) error
}

// Parties is a list of accounts.
type Parties []Party

// With returns a function that reports whether a party is in the list or another one.
func (p Parties) With(other Party) func(Party) bool {
	return func(party Party) bool { return party.Equal(other) || slices.ContainsFunc(p, party.Equal) }
}

// OwnParties returns the accounts in effects, of those that matter to an OwnReader, that
// mine reports: who pays fees by another authorization, and whom a factory creates.
func OwnParties(effects []Effect, mine func(address []byte) (bool, error)) (own Parties, err error) {
	for i := range effects {
		var party Party
		switch effect := &effects[i]; {
		case effect.Kind == KindFee && effect.By == ByOther:
			party = effect.From
		case effect.Kind == KindCreate && effect.Function == InitCode:
			party = effect.To
		}
		if own, err = own.Asked(party, mine); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// Asked returns the list with a party if mine reports it. The error is that of mine.
func (p Parties) Asked(party Party, mine func(address []byte) (bool, error)) (Parties, error) {
	address := party.Address()
	if address == nil || slices.ContainsFunc(p, party.Equal) {
		return p, nil
	}
	ok, err := mine(address)
	if ok && err == nil {
		p = append(p, party)
	}
	return p, err
}
