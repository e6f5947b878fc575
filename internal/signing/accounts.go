package signing

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
)

// accounts finds the accounts of an organization in a transaction. An address is one if the
// organization has a key at it; what the transaction claims does not count.
type accounts struct {
	keys           keystore.Keystore
	wallets        keystore.WalletRegistry // may be nil
	organizationID string
	chain          chains.Chain
	tx             chains.Transaction

	ctx        context.Context
	registered []keystore.Registration
	listed     bool  // registered is known
	err        error // the first one of the keystore
}

var _ chains.Accounts = (*accounts)(nil)

// heldKey is a key of the organization.
type heldKey struct {
	chains.Account
	wallet string // the wallet's name
}

func (a *accounts) Controls(address []byte) (account chains.Account, ok bool) {
	if a.err == nil && len(address) > 0 {
		account, a.err = a.at(address)
	}
	return account, account.KeyID != ""
}

// at returns the account at an address, without an id if there is none.
func (a *accounts) at(address []byte) (none chains.Account, err error) {
	locator, ok := a.chain.Locate(address)
	if !ok {
		return none, nil
	}
	key, err := a.keys.Find(a.ctx, a.organizationID, locator)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return none, nil
	case err != nil:
		return none, refuse.Key(err)
	case key == nil:
		return none, refuse.Key(refuse.ErrNoKey)
	}
	held, err := a.key(a.ctx, key.ID())
	if err != nil {
		return none, err
	}
	_, held.Schnorr = keystore.As[keystore.SchnorrSigner](key)
	return held.Account, nil
}

func (a *accounts) WithKey(keyID string) chains.Account {
	held := heldKey{Account: chains.Account{KeyID: keyID}}
	if a.err == nil {
		held, a.err = a.key(a.ctx, keyID)
	}
	return held.Account
}

// key returns a key with the wallet that it belongs to.
func (a *accounts) key(ctx context.Context, id string) (heldKey, error) {
	held := heldKey{Account: chains.Account{KeyID: id}}
	finder, ok := a.keys.(keystore.WalletFinder)
	if !ok {
		return held, nil
	}
	wallet, err := finder.WalletOf(ctx, a.organizationID, id)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return held, nil
	case err != nil:
		return held, refuse.Key(err)
	}
	account, _ := wallet.Account(id)
	held.WalletID, held.wallet, held.Path = wallet.ID, wallet.Name, account.Path
	return held, nil
}

func (a *accounts) Registered() []keystore.Registration {
	if a.wallets == nil || a.listed || a.err != nil {
		return a.registered
	}
	a.listed = true
	var err error
	if a.registered, err = a.wallets.Registered(a.ctx, a.organizationID); err != nil {
		a.err = refuse.Key(err)
	}
	return a.registered
}

// within returns the accounts, to be asked in a context. After an error of the keystore they
// are resolved again.
func (p *Prepared) within(ctx context.Context) *accounts {
	p.accounts.ctx = ctx
	if p.accounts.err != nil {
		p.accounts.registered, p.accounts.listed, p.accounts.err = nil, false, nil
		chains.ResolveAccounts(p.signing, &p.accounts)
	}
	return &p.accounts
}

// OwnEffects returns what signing does, with the signer's address filled in, Change set on what comes
// back to the wallet that pays, and Controlled on what goes to the organization's accounts. At the end
// is what our money does in accounts that only pass it on, see chains.Follow. The keystore is asked
// once which addresses those are; the error is the keystore's. The list must not be changed.
func (p *Prepared) OwnEffects(ctx context.Context) ([]chains.Effect, error) {
	if p.effects != nil {
		return p.effects, nil
	}
	accounts := p.within(ctx)
	effects, _ := chains.Follow(p.signing.Effects())
	effects = slices.Clone(effects)
	for i := range effects {
		effect := &effects[i]
		if effect.Controlled == chains.ControlledUnknown && !effect.To.IsUnknown() {
			effect.Controlled = chains.ControlledNo
			if _, ok := accounts.Controls(effect.To.Address()); ok {
				effect.Controlled = chains.ControlledYes
			}
		}
		if effect.ToItself() && accounts.chain.Words().Returns(effect, p.reading) {
			effect.Change = effect.Controlled == chains.ControlledYes
		}
	}
	p.reading.Name(effects)
	if accounts.err != nil {
		return nil, accounts.err
	}
	p.effects = effects
	return effects, nil
}
