package structures

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// gives adds what an order lets others take from its owner, and returns the index of the effect.
func (r *reading) gives(owner, to chains.Party, asset chains.Asset, most *big.Int, path string) int {
	r.order = true
	effect := chains.Effect{Kind: chains.KindTransfer, From: owner, To: to, Asset: asset, Amount: chains.AtMost(most),
		Path: path}
	if owner.IsSigner() {
		return r.add(effect)
	}
	return r.addFrom(effect)
}

// gets adds what a party gets at least if the order is filled: its owner receives it. What
// another gets is by the signature if it is the price of what the owner gives, and otherwise
// by the account that fills the order and pays it too.
func (r *reading) gets(owner, to chains.Party, asset chains.Asset, least *big.Int, price bool, path string) {
	effect := chains.Effect{Kind: chains.KindTransfer, From: chains.UnknownParty(), To: to, Asset: asset,
		Amount: chains.AtLeast(least), Path: path}
	if to.Equal(owner) {
		received(&effect)
	} else if !price {
		effect.By, effect.OtherSigner = chains.ByOther, chains.UnknownParty()
	}
	r.add(effect)
}

// received makes an effect one that the owner of an order receives.
func received(effect *chains.Effect) {
	effect.Kind, effect.By, effect.OtherSigner = chains.KindReceive, chains.ByOther, chains.UnknownParty()
}

// returns reports whether an effect is what the order gives back: before the signer is known,
// what goes to an address may.
func returns(effect *chains.Effect, signer chains.Party) bool {
	paid := effect.Kind == chains.KindReceive ||
		signer.IsNone() && effect.Kind == chains.KindTransfer && effect.By == chains.BySigner &&
			effect.Amount.Bound == chains.BoundLeast
	return paid && effect.Amount.Value.Sign() > 0
}

// leaves reports whether an effect is what the order takes from its owner.
func leaves(effect *chains.Effect) bool {
	return effect.Amount.Bound == chains.BoundMost && effect.By == chains.BySigner
}

// worthless returns why what an order gives back is no price, empty if it may be one: it can be
// nothing, or no more of an asset than the order takes, or it is an unlisted asset,
// for an NFT or for another unlisted one.
func worthless(effects []chains.Effect, signer chains.Party) string {
	back, worth, given := false, false, false
	var sum big.Int
	for i := range effects {
		switch effect := &effects[i]; {
		case returns(effect, signer):
			if !worth && gains(&sum, effects, effect.Asset, signer) {
				back, worth = true, listed(effect.Asset)
			}
		case leaves(effect):
			given = given || !listed(effect.Asset)
		}
	}
	switch {
	case !back:
		return "the owner of what the order gives may get nothing for it"
	case given && !worth:
		return "all that the order gives back are assets that are in no list, and may be worth nothing"
	}
	return ""
}

// gains reports whether an order gives back more of an asset than it takes of it. The native asset
// and its wrapped form are the same.
func gains(sum *big.Int, effects []chains.Effect, asset chains.Asset, signer chains.Party) bool {
	sum.SetInt64(0)
	coin := isCoin(asset)
	for i := range effects {
		switch effect := &effects[i]; {
		case !effect.Asset.Equal(asset) && (!coin || !isCoin(effect.Asset)):
		case returns(effect, signer):
			sum.Add(sum, effect.Amount.Value)
		case leaves(effect):
			sum.Sub(sum, effect.Amount.Value)
		}
	}
	return sum.Sign() > 0
}

// isCoin reports whether an asset is the native one, or its wrapped form.
func isCoin(asset chains.Asset) bool { return asset.IsNative() || evm.Wraps(asset) }

// listed reports whether an asset is native, a built-in token, the native asset's wrapped form,
// or what conditional tokens are paid in. One token of a collection is not.
func listed(asset chains.Asset) bool {
	return asset.NFT == nil && (evm.Listed(asset) || isCoin(asset) || isCollateral(asset))
}
