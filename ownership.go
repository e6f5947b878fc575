package countersign

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// owners looks up which addresses of a transaction belong to keys of the organization,
// and to the wallet that signs. It ignores what the transaction claims: an address is
// the organization's if one of its keys is found at it.
type owners struct {
	engine         *Engine
	organizationID string
	chain          chains.Chain
	tx             chains.Transaction
}

// locate returns where the key of an address is looked for, by the transaction if it
// knows more about its addresses than its chain.
func (o *owners) locate(address []byte) (locator keystore.Locator, ok bool) {
	if finder, ok := o.tx.(chains.OwnerFinder); ok {
		return finder.Owner(address)
	}
	return o.chain.Owner(address)
}

// ownedKey is a key of the organization.
type ownedKey struct {
	KeyID    string
	WalletID string // empty if the key belongs to no wallet
	Wallet   string // the wallet's name
	Path     string // derivation path in the wallet
}

// at returns the organization's key at an address in the chain's binary form.
func (o *owners) at(ctx context.Context, address []byte) (owned ownedKey, ok bool, err error) {
	locator, ok := o.locate(address)
	if len(address) == 0 || !ok {
		return owned, false, nil
	}
	key, err := o.engine.config.Keystore.Find(ctx, o.organizationID, locator)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return owned, false, nil
	case err != nil:
		return owned, false, refuseKey(err)
	case key == nil:
		return owned, false, refuseKey(errNoKey)
	}
	owned, err = o.key(ctx, key.ID())
	return owned, err == nil, err
}

// known tells a signing whose effects depend on it which accounts are the organization's.
func (o *owners) known(ctx context.Context, signing chains.Signing) error {
	reader, ok := signing.(chains.OwnReader)
	if !ok {
		return nil
	}
	return reader.Own(func(address []byte) (bool, error) {
		_, ok, err := o.at(ctx, address)
		return ok, err
	})
}

// key returns a key with the wallet that it belongs to.
func (o *owners) key(ctx context.Context, id string) (ownedKey, error) {
	owned := ownedKey{KeyID: id}
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

// markChange sets Change on transfers back to a key that signs, or to another key of its
// wallet, and returns effects.
func (o *owners) markChange(ctx context.Context, effects []chains.Effect, keyIDs []string) ([]chains.Effect, error) {
	signers := make([]ownedKey, len(keyIDs))
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
		owned, ok, err := o.at(ctx, effects[i].To.Address())
		if err != nil {
			return nil, err
		}
		effects[i].Change = ok && owned.isWith(signers)
	}
	return effects, nil
}

// isWith reports whether the key is one of the signers, or in the wallet of one.
func (k ownedKey) isWith(signers []ownedKey) bool {
	for _, signer := range signers {
		if k.KeyID == signer.KeyID || k.WalletID != "" && k.WalletID == signer.WalletID {
			return true
		}
	}
	return false
}
