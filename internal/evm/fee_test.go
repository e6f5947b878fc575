package evm

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// hazardsAt returns the names of hazards without the chain's, and their effects.
func hazardsAt(hazards []chains.Hazard) (names []string, effects []int) {
	for _, hazard := range hazards {
		index, _ := hazard.Effect()
		names, effects = append(names, hazard.Name), append(effects, index)
	}
	return names, effects
}

// TestFeeHazards has a fee at the cap of each chain in the table and of one that is not in
// it, and one unit above.
func TestFeeHazards(t *testing.T) {
	signer := mainnet.Party(Address{0xaa})
	ids := []uint64{1, 987654321, 0}
	for id := range chainsByID() {
		ids = append(ids, id)
	}
	for _, id := range ids {
		limit := Attos(cmp.Or(chainsByID()[id].maxFee, DefaultMaxFee))
		for over, want := range map[int64]int{0: 0, 1: 1} {
			fee := chains.Effect{Kind: chains.KindFee, By: chains.BySigner, From: signer, Asset: chains.Native(NetworkID(id)),
				Amount: chains.AtMost(new(big.Int).Add(limit.ToBig(), big.NewInt(over)))}
			got := FeeHazards("c", []chains.Effect{{Kind: chains.KindCall, By: chains.BySigner}, fee}, signer, 0)
			if names, at := hazardsAt(got); len(got) != want || want == 1 && (names[0] != "c/high-fee" || at[0] != 1) {
				t.Errorf("chain %d, %d above the cap: %v", id, over, got)
			}
		}
	}
}

// TestWhoseFee has fees of a million, by who authorizes and who pays them.
func TestWhoseFee(t *testing.T) {
	signer, other, paymaster := mainnet.Party(Address{0xaa}), mainnet.Party(Address{0xbb}), mainnet.Party(Address{0x9a})
	million := chains.AtMost(new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil))
	native, huge := mainnet.native(), new(big.Int).Lsh(big.NewInt(1), 300)
	for name, c := range map[string]struct {
		fee  chains.Effect
		own  []chains.Party
		want bool
	}{
		"the signer's":                         {chains.Effect{By: chains.BySigner, From: signer, Amount: million}, nil, true},
		"of an account, by the signer":         {chains.Effect{By: chains.BySigner, From: other, Amount: million}, nil, true},
		"by an earlier permission":             {chains.Effect{By: chains.ByStanding, From: signer, Amount: million}, nil, true},
		"over 256 bits":                        {chains.Effect{By: chains.BySigner, From: signer, Amount: chains.AtMost(huge)}, nil, true},
		"unknown":                              {chains.Effect{By: chains.BySigner, From: signer, Amount: chains.UnknownQuantity()}, nil, true},
		"at least":                             {chains.Effect{By: chains.BySigner, From: signer, Amount: chains.AtLeast(big.NewInt(1))}, nil, true},
		"added to an unknown one, but small":   {chains.Effect{By: chains.BySigner, From: signer, Amount: chains.Quantity{Bound: chains.BoundAdded, Value: big.NewInt(1)}}, nil, false},
		"in a token":                           {chains.Effect{By: chains.BySigner, From: signer, Amount: chains.AtMost(big.NewInt(1)), Asset: chains.UnknownAsset("eip155:1")}, nil, true},
		"by another operation of the signer":   {chains.Effect{By: chains.ByOther, OtherSigner: signer, From: signer, Amount: million}, nil, true},
		"of a foreign account":                 {chains.Effect{By: chains.ByOther, OtherSigner: other, From: other, Amount: million}, nil, false},
		"of a foreign account, unknown":        {chains.Effect{By: chains.ByOther, OtherSigner: other, From: other, Amount: chains.UnknownQuantity()}, nil, false},
		"of a paymaster, in typed data":        {chains.Effect{By: chains.ByOther, OtherSigner: paymaster, From: paymaster, Account: signer, Amount: million}, nil, false},
		"of a paymaster, for the signer":       {chains.Effect{By: chains.ByOther, OtherSigner: signer, From: paymaster, Account: signer, Amount: million}, nil, false},
		"of a paymaster that is the signer":    {chains.Effect{By: chains.ByOther, OtherSigner: other, From: signer, Account: other, Amount: million}, nil, true},
		"of a paymaster of the organization":   {chains.Effect{By: chains.ByOther, OtherSigner: paymaster, From: paymaster, Account: signer, Amount: million}, []chains.Party{paymaster}, true},
		"of the organization's, in handleOps":  {chains.Effect{By: chains.ByOther, OtherSigner: other, From: paymaster, Account: other, Amount: million}, []chains.Party{paymaster}, true},
		"small, of the organization's":         {chains.Effect{By: chains.ByOther, OtherSigner: other, From: paymaster, Account: other, Amount: chains.AtMost(big.NewInt(1))}, []chains.Party{paymaster}, false},
		"of a foreign account of no paymaster": {chains.Effect{By: chains.ByOther, OtherSigner: other, From: other, Amount: million}, []chains.Party{paymaster}, false},
	} {
		c.fee.Kind = chains.KindFee
		if c.fee.Asset.IsNone() {
			c.fee.Asset = native
		}
		effects := []chains.Effect{c.fee}
		claimFees(effects, chains.Parties(c.own).With(signer))
		if got := FeeHazards("c", effects, signer, 0); (len(got) == 1) != c.want || len(got) > 1 {
			t.Errorf("%s: %v, want a hazard: %v", name, got, c.want)
		}
		if ours := slices.ContainsFunc(append(c.own, signer), c.fee.From.Equal) && !c.fee.Account.IsNone(); ours && effects[0].By != chains.BySigner {
			t.Errorf("%s: by %s: no rule of a policy has to cover it", name, effects[0].By)
		}
	}
}

func (n *Network) native() chains.Asset { return chains.Native(n.ID) }

// TestEverydayFees has ordinary transactions at ordinary prices of gas, on chains whose coins
// are worth cents, and fees that are worth much on chains whose coin is bitcoin.
func TestEverydayFees(t *testing.T) {
	gwei := func(gas, price int64) *uint256.Int {
		return new(uint256.Int).Mul(uint256.NewInt(uint64(gas)), uint256.NewInt(uint64(price)*1e9))
	}
	for _, c := range []struct {
		chainID    uint64
		gas, price int64 // in gwei
		over       bool
	}{
		{369, 300_000, 2_000_000, false},   // PulseChain
		{199, 300_000, 9_000_000, false},   // BitTorrent Chain, its least price
		{25, 300_000, 5_000, false},        // Cronos
		{361, 300_000, 4_000, false},       // Theta
		{88888, 300_000, 2_500, false},     // Chiliz
		{4689, 1_000_000, 1_000, false},    // IoTeX
		{295, 2_000_000, 1_200, false},     // Hedera
		{40, 2_000_000, 600, false},        // Telos
		{250, 500_000, 3_000, false},       // Fantom
		{30, 300_000, 1, false},            // Rootstock
		{30, 300_000, 100, true},           // 0.03 BTC
		{4114, 300_000, 100, true},         // Citrea
		{987654321, 300_000, 5_000, true},  // not known
		{987654321, 300_000, 1_000, false}, // not known, 0.3
	} {
		detail := OverFee(c.chainID, gwei(c.gas, c.price), 0)
		if (detail != "") != c.over {
			t.Errorf("chain %d, %d gas at %d gwei: %q", c.chainID, c.gas, c.price, detail)
		}
		if unknown := strings.Contains(detail, "not known"); detail != "" && unknown != (c.chainID == 987654321) {
			t.Errorf("chain %d: %q", c.chainID, detail)
		}
	}
}

// TestCapsNameTheirCoin: each chain with a cap of its own has a name and a coin.
func TestCapsNameTheirCoin(t *testing.T) {
	for id, c := range chainsByID() {
		if c.maxFee != DefaultMaxFee && TempoName(id) == "" && chains.NetworkOf(NetworkID(id)).Name == "" {
			t.Errorf("chain %d has a cap in a coin without a name", id)
		}
	}
}
