package signing

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/operation"
)

func (r *Preparer) findRegistered(ctx context.Context, organizationID, name string,
) (registration keystore.Registration, ok bool, err error) {
	if r.Wallets == nil {
		return registration, false, nil
	}
	all, err := r.Wallets.Registered(ctx, organizationID)
	if err != nil {
		return registration, false, refuse.Key(err)
	}
	i := slices.IndexFunc(all, func(w keystore.Registration) bool { return w.Name() == name })
	if i < 0 {
		return registration, false, nil
	}
	return all[i], true, nil
}

// ofRegistered returns the request to sign for a registered wallet, with the organization's keys in it.
func (r *Preparer) ofRegistered(ctx context.Context, a *accounts, wallet keystore.Registration,
) (chains.Request, []keystore.Key, error) {
	of, ok := a.tx.(chains.WalletTransaction)
	if !ok {
		return nil, nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldSignWith, nil,
			"%q is a registered wallet, which signs Bitcoin transactions: expected an address of the key, or its id",
			refuse.Shorten(wallet.Name()))
	}
	request, err := of.RequestOf(wallet, a)
	if a.err != nil {
		return nil, nil, a.err
	}
	if err != nil {
		return nil, nil, refuse.Transaction(err)
	}
	keys, err := r.findAll(ctx, a.organizationID, request.Locators())
	if err == nil && len(keys) == 0 {
		err = activity.NewError(activity.ReasonNotFound, intents.FieldSignWith, keystore.ErrKeyNotFound,
			"could not find any resource to sign with: no key of the registered wallet %q that this transaction "+
				"needs is derived here: derive it from the wallet with your words, with 'countersign keys derive "+
				"--wallet WALLET --psbt'", refuse.Shorten(wallet.Name()))
	}
	return request, keys, err
}

func (p *Prepared) findWallets() {
	signing, ok := p.signing.(chains.WalletSigning)
	if !ok {
		return
	}
	use := signing.Registered()
	for _, w := range use.Used {
		digest := w.Digest()
		p.wallets.Used = append(p.wallets.Used, activity.RegisteredWallet{Name: w.Name(),
			Digest: hex.EncodeToString(digest[:]), Leaf: w.Leaf})
	}
	p.wallets.Mixed, p.stray = use.Mixed, use.Hazards
	if use.Only {
		first := use.Used[0]
		identity := first.Identity()
		p.wallets.Only = &access.SigningWallet{ID: hex.EncodeToString(identity[:]), Name: first.Name(),
			ChargeID: signing.ChargeID(first)}
	}
}

func (p *Prepared) Wallets() operation.RegisteredWallets { return p.wallets }
