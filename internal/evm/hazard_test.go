package evm_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

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
