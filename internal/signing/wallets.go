package signing

import (
	"context"
	"encoding/hex"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// wallets are the registered wallets that a transaction spends from or pays to.
type wallets struct {
	used []activity.RegisteredWallet
	only *access.SigningWallet // that every input to be signed is of; nil if there is none
}

// findWallets sets p.wallets.
func (p *Prepared) findWallets(ctx context.Context) error {
	if _, ok := p.signing.(chains.RegisteredSigning); !ok {
		return nil
	}
	h := p.owners.holders(ctx)
	signing := h.signing(p.signing).(chains.RegisteredSigning)
	used, only := signing.Registered()
	for _, w := range used {
		digest := w.Digest()
		p.wallets.used = append(p.wallets.used, activity.RegisteredWallet{Name: w.Name(), Digest: hex.EncodeToString(digest[:]), Leaf: w.Leaf})
	}
	if only {
		first := p.wallets.used[0]
		p.wallets.only = &access.SigningWallet{ID: first.Digest, Name: first.Name, ChargeID: signing.ChargeID(used[0])}
	}
	return h.err
}

// Wallets returns the registered wallets that the transaction spends from or pays to.
func (p *Prepared) Wallets() []activity.RegisteredWallet { return p.wallets.used }

// Wallet returns the registered wallet that every input to be signed is of, nil if there is
// none.
func (p *Prepared) Wallet() *access.SigningWallet { return p.wallets.only }
