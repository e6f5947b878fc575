package evm

import (
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// swapped is a swap among effects: what goes into pools, and, in the next effect, what comes
// out of them.
type swapped struct {
	out  int // index of what comes out
	good bool
}

// unbounded returns the indices of what comes out of swaps without a minimum. A swap to the
// router may have none if what it gives is bounded afterwards: the router sends it on with a
// minimum, or it goes into a swap that has one, as the plans of Uniswap's SDK do.
func unbounded(effects []chains.Effect) (indices []int) {
	var swaps []swapped
	for i := range effects {
		if i > 0 && isSwap(&effects[i]) {
			swaps = append(swaps, swapped{out: i})
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range swaps {
			if !swaps[i].good && bounded(effects, swaps, swaps[i].out) {
				swaps[i].good, changed = true, true
			}
		}
	}
	for _, swap := range swaps {
		if !swap.good {
			indices = append(indices, swap.out)
		}
	}
	return indices
}

// isSwap reports whether an effect is what comes out of a swap: of a router's command, or of
// Tempo's exchange.
func isSwap(e *chains.Effect) bool {
	if strings.HasPrefix(e.Function, "swapExactAmountIn(") {
		return e.Amount.Bound == chains.BoundLeast
	}
	return (strings.HasPrefix(e.Function, "V2_SWAP_") || strings.HasPrefix(e.Function, "V3_SWAP_")) &&
		e.From.IsUnknown()
}

// bounded reports whether something bounds from below what comes out of a swap.
func bounded(effects []chains.Effect, swaps []swapped, out int) bool {
	got := &effects[out]
	if got.Amount.Value != nil && got.Amount.Value.Sign() > 0 {
		return true
	}
	for i := out + 1; i < len(effects); i++ {
		e := &effects[i]
		paid := i == out+1 && e.Amount.Bound == chains.BoundAll // to the next pool itself, as version 2 takes it
		switch {
		case !e.Asset.Equal(got.Asset) || !e.From.Equal(got.To) && !paid:
		case e.To.IsUnknown(): // into another swap
			if slices.Contains(swaps, swapped{out: i + 1, good: true}) {
				return true
			}
		case !e.To.Equal(got.To) && e.Amount.Bound == chains.BoundLeast &&
			exceeds(e.Amount.Value, brought(effects[:i], got)):
			return true
		}
	}
	return false
}

// brought returns the most of what a swap gives that its recipient has by other means when
// effects are done: what the caller of the plan sends there, which a minimum may give back to
// the caller. It is nil if nothing bounds that. What another swap gives counts for the minimum.
func brought(effects []chains.Effect, got *chains.Effect) *big.Int {
	sum := new(big.Int)
	for i := range effects {
		switch e := &effects[i]; {
		case !e.Asset.Equal(got.Asset):
		// as a sweep
		case e.From.Equal(got.To) && (e.Amount.Bound == chains.BoundAll || e.Amount.Bound == chains.BoundLeast):
			sum.SetUint64(0)
		case e.From.Equal(got.To) && e.Amount.Bound == chains.BoundExact && e.Amount.Value != nil && spends(e.Kind):
			sum = Less(sum, e.Amount.Value)
		case !e.To.Equal(got.To) || !e.Kind.Hands() || e.From.IsUnknown():
		case e.Amount.IsUnknown():
			return nil
		default:
			sum.Add(sum, e.Amount.Value)
		}
	}
	return sum
}

// exceeds reports whether an amount is more than another one, which is without a limit if it
// is nil.
func exceeds(amount, most *big.Int) bool { return most != nil && amount.Cmp(most) > 0 }
