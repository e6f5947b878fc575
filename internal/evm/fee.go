package evm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// DefaultMaxFee is the highest fee without a hazard, in whole units of the native asset,
// on chains that are not in maxFees.
const DefaultMaxFee = 0.5

// maxFees are the highest fees without a hazard, in whole units of the native asset, on
// the chains where they are not DefaultMaxFee.
var maxFees = map[uint64]float64{
	10:           0.02,
	56:           0.1,
	100:          10,
	130:          0.02,
	137:          100,
	146:          100,
	324:          0.02,
	480:          0.02,
	5000:         50,
	8453:         0.02,
	17000:        1000,
	42161:        0.02,
	42220:        10,
	43114:        2,
	59144:        0.02,
	80094:        10,
	81457:        0.02,
	84532:        1000,
	421614:       1000,
	534352:       0.02,
	560048:       1000,
	11155111:     1000,
	11155420:     1000,
	TempoMainnet: 100,
	TempoTestnet: 100_000,
}

// MaxFee returns the highest fee on a chain without a hazard, in whole units of its
// native asset.
func MaxFee(chainID uint64) float64 {
	if fee, ok := maxFees[chainID]; ok {
		return fee
	}
	return DefaultMaxFee
}

// FeeHazards returns a hazard, <chain>/high-fee, for each fee that the signature lets be
// taken from the signer, or from an account that it acts for, and that is over most, in
// whole units of the native asset. If most is 0, it is MaxFee of the fee's chain. A fee
// without an upper bound, or in another asset, is over every limit.
func FeeHazards(chain string, effects []chains.Effect, signer chains.Party, most float64) []chains.Hazard {
	var h HazardList
	for i := range effects {
		effect := &effects[i]
		if effect.Kind != chains.KindFee || !chargesSigner(effect, signer) {
			continue
		}
		if detail := feeDanger(effect, most); detail != "" {
			h.AddOn(i, chain+"/"+HighFee, "%s", detail)
		}
	}
	return h
}

// chargesSigner reports whether a fee is by the signer's authorization: by this signature,
// or by another one of the signer's in the bytes. A fee that a paymaster pays is its own
// affair, unless ClaimFees has found that the paymaster is one of ours.
func chargesSigner(fee *chains.Effect, signer chains.Party) bool {
	return fee.By != chains.ByOther || fee.Account.IsNone() && fee.OtherSigner.Equal(signer)
}

// feeDanger returns what is dangerous about a fee, empty if nothing is.
func feeDanger(fee *chains.Effect, most float64) string {
	switch {
	case fee.Amount.IsUnknown():
		return "nothing limits the fee"
	case !fee.Asset.IsNative():
		return "the fee is paid in a token, and nothing says what it is worth"
	}
	amount, overflow := uint256.FromBig(fee.Amount.Value)
	if overflow {
		amount.SetAllOne()
	}
	return OverFee(chainOf(fee.Asset), amount, most)
}

// OverFee returns why a fee in 10⁻¹⁸ of a chain's unit is dangerous, empty if it is at
// most the limit in whole units. If most is 0, the limit is MaxFee.
func OverFee(chainID uint64, fee *uint256.Int, most float64) string {
	most = cmp.Or(most, MaxFee(chainID))
	if limit := Attos(most); !fee.Gt(&limit) {
		return ""
	}
	symbol := chains.NetworkOf(NetworkID(chainID)).Symbol
	if TempoName(chainID) != "" {
		symbol = "USD"
	}
	return "the fee is up to " + chains.Decimal(fee.Dec(), 18) + " " + symbol + ", over " + fmt.Sprint(most)
}

// chainOf returns the chain id of an asset, 0 if the bytes do not name one of 64 bits.
func chainOf(asset chains.Asset) uint64 {
	id, err := strconv.ParseUint(strings.TrimPrefix(asset.Chain, "eip155:"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// ClaimFees attributes the fees of user operations whose paymaster is one of our own
// accounts to the signature, in place: what they cost is ours. The others stay by the
// paymaster's authorization.
func ClaimFees(effects []chains.Effect, own func(chains.Party) bool) {
	for i := range effects {
		fee := &effects[i]
		if fee.Kind == chains.KindFee && fee.By == chains.ByOther && !fee.Account.IsNone() && own(fee.From) {
			fee.By, fee.OtherSigner = chains.BySigner, chains.Party{}
		}
	}
}
