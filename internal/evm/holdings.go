package evm

import (
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// holding is what the transaction has brought to a shared contract of one asset and has
// not taken away. What it points to is replaced, never changed.
type holding struct {
	inflow *chains.Effect // that began it
	least  *big.Int
	most   *big.Int // nil if it has no limit
}

// holdings are what the calls before have left in shared contracts. One that is empty
// keeps its place.
type holdings []holding

// find returns what a contract holds of an asset, nil if it holds nothing.
func (h holdings) find(contract chains.Party, asset chains.Asset) *holding {
	for i := range h {
		if h[i].inflow.To.Equal(contract) && h[i].inflow.Asset.Equal(asset) {
			return &h[i]
		}
	}
	return nil
}

// least returns the least that a contract holds of an asset.
func (h holdings) least(contract chains.Party, asset chains.Asset) *big.Int {
	if held := h.find(contract, asset); held != nil {
		return held.least
	}
	return new(big.Int)
}

// take records that an amount has left a contract. A transfer of more than is surely there
// may not happen: tokens exist that answer false instead of failing.
func (h holdings) take(contract chains.Party, asset chains.Asset, amount chains.Quantity) {
	held := h.find(contract, asset)
	switch {
	case held == nil || amount.IsNone():
	case amount.Bound == chains.BoundAll:
		held.least, held.most = new(big.Int), new(big.Int)
	case amount.Value == nil || amount.Bound == chains.BoundLeast:
		held.least = new(big.Int)
	default:
		if held.most != nil && amount.Bound == chains.BoundExact && amount.Value.Cmp(held.least) <= 0 {
			held.most = Less(held.most, amount.Value)
		}
		held.least = Less(held.least, amount.Value)
	}
}

// Less returns the difference of two numbers, at least zero.
func Less(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return new(big.Int)
	}
	return new(big.Int).Sub(a, b)
}

// takePortion records that a contract sends on a share of what it has, in hundredths of
// a percent, rounded down.
func (h holdings) takePortion(contract chains.Party, asset chains.Asset, share *big.Int) {
	held := h.find(contract, asset)
	if held == nil {
		return
	}
	rest := func(amount *big.Int) *big.Int {
		portion := new(big.Int).Mul(amount, share)
		return Less(amount, portion.Quo(portion, whole))
	}
	held.least = rest(held.least)
	if share.Cmp(whole) >= 0 {
		held.most = new(big.Int)
	} else if held.most != nil {
		held.most = rest(held.most)
	}
}

var whole = big.NewInt(10_000)

// put records that an effect has brought an amount to its recipient.
func (h *holdings) put(effect chains.Effect, amount chains.Quantity) {
	least, most := new(big.Int), amount.Value
	if most != nil && (amount.Bound == chains.BoundExact || amount.Bound == chains.BoundLeast) {
		least = most
	}
	if amount.Bound != chains.BoundExact && amount.Bound != chains.BoundMost {
		most = nil
	}
	held := h.find(effect.To, effect.Asset)
	switch {
	case held == nil:
		*h = append(*h, holding{&effect, least, most})
		return
	case held.isEmpty():
		held.inflow = &effect
	default:
		held.alsoBy(&effect)
	}
	held.least = new(big.Int).Add(held.least, least)
	if held.most != nil && most != nil {
		held.most = new(big.Int).Add(held.most, most)
	} else {
		held.most = nil
	}
}

func (h *holding) isEmpty() bool { return h.most != nil && h.most.Sign() == 0 }

// alsoBy adds an inflow by another authorization. The signer of the whole answers for what
// two of them have brought.
func (h *holding) alsoBy(effect *chains.Effect) {
	if by := h.inflow.By; by != effect.By || by == chains.ByOther && !h.inflow.OtherSigner.Equal(effect.OtherSigner) {
		joint := *h.inflow
		joint.By, joint.OtherSigner = chains.BySigner, chains.Party{}
		h.inflow = &joint
	}
}

// widen makes the holdings those after some calls, or those before in case the calls failed.
func (h holdings) widen(before holdings) {
	for i := range h {
		held := &h[i]
		if i >= len(before) {
			held.least = new(big.Int)
			continue
		}
		was := before[i]
		if !was.isEmpty() {
			held.alsoBy(was.inflow)
		}
		if was.least.Cmp(held.least) < 0 {
			held.least = was.least
		}
		if held.most != nil && (was.most == nil || was.most.Cmp(held.most) > 0) {
			held.most = was.most
		}
	}
}

// clearTaken empties what a call that is not decoded may have taken: all that the contract
// has whose code runs, and the tokens of the contract that makes the call. The native
// value that goes with a call is known.
func (h holdings) clearTaken(called, caller chains.Party) {
	for i := range h {
		held := &h[i]
		if at := held.inflow.To; at.Equal(called) || at.Equal(caller) && !held.inflow.Asset.IsNative() {
			held.least, held.most = new(big.Int), new(big.Int)
		}
	}
}

// spends reports whether an effect of a kind takes an asset from the balance of From.
func spends(kind chains.Kind) bool {
	return slices.Contains([]chains.Kind{chains.KindTransfer, chains.KindReceive, chains.KindBurn, chains.KindStake,
		chains.KindCreate}, kind)
}
