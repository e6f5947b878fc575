package evm

import (
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

// isSwap reports whether an effect is what comes out of a swap.
func isSwap(e *chains.Effect) bool {
	return (strings.HasPrefix(e.Function, "V2_SWAP_") || strings.HasPrefix(e.Function, "V3_SWAP_")) && e.From.IsUnknown()
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
		case !e.To.Equal(got.To) && e.Amount.Bound == chains.BoundLeast && e.Amount.Value.Sign() > 0:
			return true
		}
	}
	return false
}
