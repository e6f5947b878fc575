package countersign

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// owners looks up whose the addresses of a transaction are: which of them belong
// to keys of the organization, and to the wallet that signs. Nothing is taken from
// the transaction's own claims: an address is the organization's if one of its
// keys is found at it.
type owners struct {
	engine         *Engine
	organizationID string
	chain          chains.Chain
	find           func(address []byte) (at keystore.Locator, ok bool) // chains.Chain.Owner, or that of the transaction
}

// ownersIn looks up whose the addresses of a transaction are.
func (e *Engine) ownersIn(tx chains.Transaction, chain chains.Chain, organizationID string) owners {
	find := chain.Owner
	if finder, ok := tx.(chains.OwnerFinder); ok {
		find = finder.Owner
	}
	return owners{engine: e, organizationID: organizationID, chain: chain, find: find}
}

// Owned is a key of the organization at an address.
type Owned struct {
	KeyID    string
	WalletID string // empty if the key belongs to no wallet
	Wallet   string // the wallet's name
	Path     string // derivation path in the wallet
}

// of returns the organization's key at an address in the chain's binary form.
func (o *owners) of(ctx context.Context, address []byte) (owned Owned, ok bool, err error) {
	at, ok := o.find(address)
	if len(address) == 0 || !ok {
		return owned, false, nil
	}
	key, err := o.engine.config.Keystore.Find(ctx, o.organizationID, at)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return owned, false, nil
	case err != nil:
		return owned, false, refuseKey(err)
	}
	owned, err = o.key(ctx, key.ID())
	return owned, err == nil, err
}

// key returns where a key belongs.
func (o *owners) key(ctx context.Context, id string) (Owned, error) {
	owned := Owned{KeyID: id}
	finder, ok := o.engine.config.Keystore.(keystore.WalletFinder)
	if !ok {
		return owned, nil
	}
	wallet, err := finder.WalletOf(ctx, o.organizationID, id)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return owned, nil
	case err != nil:
		return owned, refuseKey(err)
	}
	account, _ := wallet.Account(id)
	owned.WalletID, owned.Wallet, owned.Path = wallet.ID, wallet.Name, account.Path
	return owned, nil
}

// markChange returns the effects with Change set on transfers back to a key that
// signs, or to another key of its wallet.
func (o *owners) markChange(ctx context.Context, effects []chains.Effect, keyIDs []string) ([]chains.Effect, error) {
	signers := make([]Owned, len(keyIDs))
	for i, id := range keyIDs {
		signer, err := o.key(ctx, id)
		if err != nil {
			return nil, err
		}
		signers[i] = signer
	}
	for i := range effects {
		if effects[i].Kind != chains.KindTransfer || effects[i].By != chains.BySigner {
			continue
		}
		owned, ok, err := o.of(ctx, effects[i].To.Address())
		if err != nil {
			return nil, err
		}
		effects[i].Change = ok && owned.isWith(signers)
	}
	return effects, nil
}

// isWith reports whether a key is one of those, or of the wallet of one.
func (k Owned) isWith(signers []Owned) bool {
	for _, signer := range signers {
		if k.KeyID == signer.KeyID || k.WalletID != "" && k.WalletID == signer.WalletID {
			return true
		}
	}
	return false
}
