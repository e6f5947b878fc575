package evm_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// TestAttos compares with big.Float, and has invalid amounts.
func TestAttos(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	amounts := []float64{1e-18, 9e-19, 0.009007199254740993, 0.02, 0.5, 1, 18.4, 100, 1e5, 1e58}
	for range 1000 {
		amounts = append(amounts, math.Ldexp(random.Float64(), random.IntN(200)-64))
	}
	for _, whole := range amounts {
		want, _ := new(big.Float).Mul(big.NewFloat(whole), big.NewFloat(1e18)).Int(nil)
		if got := evm.Attos(whole); got.ToBig().Cmp(want) != 0 {
			t.Errorf("%v: %v, want %v", whole, got.ToBig(), want)
		}
	}
	for whole, bits := range map[float64]int{-1: 0, math.Inf(-1): 0, math.NaN(): 0, 1e60: 256, math.Inf(1): 256} {
		if got := evm.Attos(whole); got.BitLen() != bits {
			t.Errorf("%v: %v", whole, got.Hex())
		}
	}
}

// TestKeptByOneself checks that an account without a key, such as a Safe, may stake for itself and vote for
// itself, and for no one else, but no contract that acts for everyone may.
func TestKeptByOneself(t *testing.T) {
	network := &evm.Network{ID: "eip155:1", ChainID: 1}
	us, safe, other := network.Party(evm.Address{1}), network.Party(evm.Address{2}), network.Party(evm.Address{3})
	router := network.Party(evm.Address(common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")))
	for _, c := range []struct {
		from, to chains.Party
		want     int
	}{{safe, safe, 0}, {safe, other, 1}, {router, router, 1}} {
		for _, effect := range []chains.Effect{{Kind: chains.KindStake, Asset: chains.Native("eip155:1")},
			{Kind: chains.KindAuthority, Asset: chains.Token("eip155:1", other, "erc20")}} {
			effect.By, effect.From, effect.To = chains.BySigner, c.from, c.to
			if hazards := evm.Hazards("ethereum", []chains.Effect{effect}, us); len(hazards) != c.want {
				t.Errorf("%s from %s to %s: %v", effect.Kind, c.from, c.to, hazards)
			}
		}
	}
}

// TestHazardsOfPassedOn checks that what a stranger takes of ours out of a shared contract has the
// hazards of its recipient, at an index behind the effects of the bytes.
func TestHazardsOfPassedOn(t *testing.T) {
	network := &evm.Network{ID: "eip155:1", ChainID: 1}
	us, stranger, router := network.Party(evm.Address{1}), network.Party(evm.Address{2}), network.Party(evm.Address(common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")))
	ether := chains.Native("eip155:1")
	effects := []chains.Effect{
		{Kind: chains.KindTransfer, By: chains.BySigner, From: us, To: router, Asset: ether, Amount: chains.ExactlyUint(5), Passage: true},
		{Kind: chains.KindBurn, By: chains.ByOther, OtherSigner: stranger, From: router, To: network.Party(evm.Address{}), Asset: ether, Amount: chains.ExactlyUint(9)},
	}
	hazards := evm.Hazards("ethereum", effects, us)
	if len(hazards) != 1 || hazards[0].Name != "ethereum/burn" {
		t.Fatalf("%+v", hazards)
	}
	if index, _ := hazards[0].Effect(); index != 2 {
		t.Errorf("the hazard points at effect %d", index)
	}
}
