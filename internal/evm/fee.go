package evm

import (
	"cmp"
	"fmt"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// FeeHazards returns a hazard, <chain>/high-fee, for each fee that the signature lets be
// taken from the signer, or from an account that it acts for, and that is over most, in
// whole units of the native asset. If most is 0, it is that of the fee's chain. A fee
// without an upper bound, or in another asset, is over every limit.
func FeeHazards(chain string, effects []chains.Effect, signer chains.Party, most float64) []chains.Hazard {
	var h HazardList
	for i := range effects {
		fee := &effects[i]
		// By the signer's authorization: by this signature, or by another one of the signer's in
		// the bytes. A fee that a paymaster pays is its own affair, unless claimFees has found that
		// the paymaster is one of ours.
		isOurs := fee.By != chains.ByOther || fee.Account.IsNone() && fee.OtherSigner.Equal(signer)
		if fee.Kind != chains.KindFee || !isOurs {
			continue
		}
		if detail := feeDanger(fee, most); detail != "" {
			h.AddOn(i, chain+"/"+hazardHighFee, "%s", detail)
		}
	}
	return h
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
// most the limit in whole units. If most is 0, the limit is that of the chain.
func OverFee(chainID uint64, fee *uint256.Int, most float64) string {
	most = cmp.Or(most, chainsByID()[chainID].maxFee, DefaultMaxFee)
	if limit := Attos(most); !fee.Gt(&limit) {
		return ""
	}
	network := chains.NetworkOf(NetworkID(chainID))
	switch {
	case TempoName(chainID) != "":
		network.Symbol = "USD"
	case network.Name == "":
		network.Symbol = "of a native coin whose worth is not known here"
	}
	return "the fee is up to " + chains.Decimal(fee.Dec(), 18) + " " + network.Symbol + ", over " + fmt.Sprint(most)
}

// claimFees attributes the fees of user operations whose paymaster is one of our own
// accounts to the signature, in place: what they cost is ours. The others stay by the
// paymaster's authorization.
func claimFees(effects []chains.Effect, own func(chains.Party) bool) {
	for i := range effects {
		fee := &effects[i]
		if fee.Kind == chains.KindFee && fee.By == chains.ByOther && !fee.Account.IsNone() && own(fee.From) {
			fee.By, fee.OtherSigner = chains.BySigner, chains.Party{}
		}
	}
}

// Dangers returns the hazards of the effects of a message: those of Hazards and FeeHazards.
func Dangers(chain string, effects []chains.Effect, signer chains.Party, maxFee float64) []chains.Hazard {
	return append(Hazards(chain, effects, signer), FeeHazards(chain, effects, signer, maxFee)...)
}
