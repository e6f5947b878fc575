package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// What counts as an allowance without a limit: 2^96 of any token (in practice tokens have at
// most 2^128 units, and some store allowances in 96 bits), and of a token whose decimals are
// known, more than anyone has.
const (
	unlimitedBits = 97
	mostListed    = 1e15 // whole units of a built-in token
)

// isUnlimited reports whether an allowance of an asset counts as one without a limit. It is
// the one rule for transactions and messages.
func isUnlimited(asset chains.Asset, amount *big.Int) bool {
	if amount.BitLen() >= unlimitedBits {
		return true
	}
	most := new(big.Int)
	if token, ok := chains.Listed(asset); ok {
		most.Exp(big.NewInt(10), big.NewInt(int64(token.Decimals)), nil).Mul(most, big.NewInt(mostListed))
	} else if address, ok := addressOf(asset.Token); ok && IsTIP20(address) && TempoName(chainOf(asset)) != "" {
		most = maxTIP20
	} else {
		return false
	}
	return amount.Cmp(most) > 0
}
