package chains

import (
	"slices"

	"github.com/countersign-dev/countersign/keystore"
)

// Account is the key of the organization that alone controls an address.
type Account struct {
	KeyID    string
	WalletID string // of the seed that the key is derived from; empty if none
	Path     string // derivation path in that wallet, such as m/84'/0'/0'/0/0
	Schnorr  bool   // the key makes BIP-340 signatures, without which its taproot outputs cannot be spent
}

// Accounts finds the accounts of the organization whose keys sign, by the keys themselves. It
// never relies on what a transaction claims. It keeps the first error of the keystore, after
// which it finds no more: its owner has to check that.
type Accounts interface {
	// Controls returns the account at an address, which is in the chain's binary form. ok is
	// false if no key of the organization alone controls that.
	Controls(address []byte) (account Account, ok bool)

	// WithKey returns the account of a key of the organization.
	WithKey(keyID string) Account

	// Registered returns the organization's registered wallets. The list must not be changed.
	Registered() []keystore.Registration
}

// AccountSigning is implemented by signings of which something depends on which addresses are
// accounts of the organization: where change goes on Bitcoin, or who pays the fee of a user
// operation (ERC-4337).
type AccountSigning interface {
	Signing

	// ResolveAccounts makes Effects, Hazards and SignerView follow the accounts, which may be
	// asked now and later. Without, the signing knows the keys that it was given alone.
	ResolveAccounts(accounts Accounts)
}

// ResolveAccounts resolves the accounts of a signing, if something in it depends on them.
func ResolveAccounts(signing Signing, accounts Accounts) {
	if signing, ok := signing.(AccountSigning); ok {
		signing.ResolveAccounts(accounts)
	}
}

// Parties is a list of accounts.
type Parties []Party

// With returns a function that reports whether a party is in the list or another one.
func (p Parties) With(other Party) func(Party) bool {
	return func(party Party) bool { return party.Equal(other) || slices.ContainsFunc(p, party.Equal) }
}

// DecisiveParties returns the accounts of the organization that effects depend on: those that
// pay fees by another authorization, and those that a factory creates.
func DecisiveParties(effects []Effect, accounts Accounts) (controlled Parties) {
	for i := range effects {
		var party Party
		switch effect := &effects[i]; {
		case effect.Kind == KindFee && effect.By == ByOther:
			party = effect.From
		case effect.Kind == KindCreate && effect.Function == InitCode:
			party = effect.To
		}
		if address := party.Address(); address != nil && !slices.ContainsFunc(controlled, party.Equal) {
			if _, ok := accounts.Controls(address); ok {
				controlled = append(controlled, party)
			}
		}
	}
	return controlled
}
