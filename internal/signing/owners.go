package signing

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
)

// owners finds out which addresses of a transaction belong to the organization. An address
// does if the organization has a key at it; what the transaction claims does not count.
type owners struct {
	keys           keystore.Keystore
	wallets        keystore.WalletRegistry // may be nil
	organizationID string
	chains         intents.Table
	named          chains.Chain // nil until asked for if the request does not name it
	tx             chains.Transaction
}

// chain returns the transaction's chain. That of a message is found by its summary, which is
// not written before something depends on it.
func (o *owners) chain() chains.Chain {
	if o.named == nil {
		o.named = o.chains.Named(o.tx.Summary().Chain)
	}
	return o.named
}

// locate returns where the key of an address is looked for, by the transaction if it
// knows more about its addresses than its chain.
func (o *owners) locate(address []byte) (locator keystore.Locator, ok bool) {
	if finder, ok := o.tx.(chains.OwnerFinder); ok {
		return finder.Owner(address)
	}
	return o.chain().Owner(address)
}

// ownedKey is a key of the organization.
type ownedKey struct {
	KeyID    string
	WalletID string // empty if the key belongs to no wallet
	Wallet   string // the wallet's name
	Path     string // derivation path in the wallet
	Schnorr  bool   // see chains.Holder
}

// at returns the organization's key at an address in the chain's binary form.
func (o *owners) at(ctx context.Context, address []byte) (owned ownedKey, ok bool, err error) {
	locator, ok := o.locate(address)
	if len(address) == 0 || !ok {
		return owned, false, nil
	}
	key, err := o.keys.Find(ctx, o.organizationID, locator)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return owned, false, nil
	case err != nil:
		return owned, false, refuse.Key(err)
	case key == nil:
		return owned, false, refuse.Key(refuse.ErrNoKey)
	}
	owned, err = o.key(ctx, key.ID())
	_, owned.Schnorr = key.(keystore.SchnorrSigner)
	return owned, err == nil, err
}

// tell tells a signing whose effects depend on it which accounts are the organization's.
func (o *owners) tell(ctx context.Context, signing chains.Signing) error {
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
	finder, ok := o.keys.(keystore.WalletFinder)
	if !ok {
		return owned, nil
	}
	wallet, err := finder.WalletOf(ctx, o.organizationID, id)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return owned, nil
	case err != nil:
		return owned, refuse.Key(err)
	}
	account, _ := wallet.Account(id)
	owned.WalletID, owned.Wallet, owned.Path = wallet.ID, wallet.Name, account.Path
	return owned, nil
}

// holders answers whose addresses are, for one reading of a transaction. It implements
// chains.Holders and keeps the first error of the keystore, which the reader has to
// check.
type holders struct {
	*owners
	ctx   context.Context
	first [4]knownOwner       // the first that were asked for: most transactions have no more
	asks  int                 // how many there were
	known map[string]ownedKey // the others, by address
	err   error

	registered []keystore.Registration
	asked      bool // registered is known
}

func (o *owners) holders(ctx context.Context) *holders {
	return &holders{owners: o, ctx: ctx}
}

// knownOwner is an address with the key that we have at it. The key has no id if we have
// none.
type knownOwner struct {
	address string
	key     ownedKey
}

var _ chains.RegisteredHolders = (*holders)(nil)

// Registered implements chains.RegisteredHolders.
func (h *holders) Registered() []keystore.Registration {
	if h.wallets == nil || h.asked || h.err != nil {
		return h.registered
	}
	h.asked = true
	var err error
	if h.registered, err = h.wallets.Registered(h.ctx, h.organizationID); err != nil {
		h.err = refuse.Key(err)
	}
	return h.registered
}

// At implements chains.Holders.
func (h *holders) At(address []byte) (chains.Holder, bool) {
	owned, known := h.remembered(address)
	if !known && h.err == nil {
		owned, _, h.err = h.at(h.ctx, address)
		h.remember(address, owned)
	}
	return owned.holder(), owned.KeyID != ""
}

func (h *holders) remembered(address []byte) (owned ownedKey, known bool) {
	for i := range min(h.asks, len(h.first)) {
		if h.first[i].address == string(address) {
			return h.first[i].key, true
		}
	}
	owned, known = h.known[string(address)]
	return owned, known
}

func (h *holders) remember(address []byte, owned ownedKey) {
	if h.asks < len(h.first) {
		h.first[h.asks] = knownOwner{string(address), owned}
	} else {
		if h.known == nil {
			h.known = map[string]ownedKey{}
		}
		h.known[string(address)] = owned
	}
	h.asks++
}

// Of implements chains.Holders.
func (h *holders) Of(keyID string) chains.Holder {
	owned := ownedKey{KeyID: keyID}
	if h.err == nil {
		owned, h.err = h.key(h.ctx, keyID)
	}
	return owned.holder()
}

func (k ownedKey) holder() chains.Holder {
	return chains.Holder{KeyID: k.KeyID, WalletID: k.WalletID, Path: k.Path, Schnorr: k.Schnorr}
}

// signing returns a signing that knows whose addresses are.
func (h *holders) signing(signing chains.Signing) chains.Signing {
	if wallets, ok := signing.(chains.WalletSigning); ok {
		return wallets.WithHolders(h)
	}
	return signing
}

// effects returns the effects of a signing and what follows from them together, with Change and
// Mine set.
func (h *holders) effects(signing chains.Signing, readings chains.Readings) ([]chains.Effect, error) {
	effects, _ := chains.Follow(h.signing(signing).Effects())
	effects = slices.Clone(effects)
	for i := range effects {
		effect := &effects[i]
		if effect.ToItself() && h.chain().Words().Returns(effect, readings) {
			_, effect.Change = h.At(effect.From.Address())
		}
		if effect.Mine == chains.MineUnknown && !effect.To.IsUnknown() {
			effect.Mine = chains.MineNo
			if _, ours := h.At(effect.To.Address()); ours {
				effect.Mine = chains.MineYes
			}
		}
	}
	return effects, h.err
}
