package secp256k1

import (
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
)

// TestOnCurve compares with btcec: digests, of which half are on the curve, and the
// ends of the field and of the group.
func TestOnCurve(t *testing.T) {
	on := 0
	compare := func(x [32]byte) {
		checkOnCurve(t, x)
		if OnCurve(x) {
			on++
		}
	}
	for i := range 1000 {
		_, x := draw(i)
		compare(x)
	}
	if on < 400 || on > 600 {
		t.Errorf("%d of 1,000 are on the curve", on)
	}
	curve := btcec.S256().CurveParams
	for _, end := range []*big.Int{new(big.Int), curve.P, curve.N, new(big.Int).Lsh(big.NewInt(1), 256)} {
		for off := range int64(512) {
			at := new(big.Int).Add(end, big.NewInt(off-256))
			if at.Sign() >= 0 && at.BitLen() <= 256 {
				compare([32]byte(at.FillBytes(make([]byte, 32))))
			}
		}
	}
}

// checkOnCurve compares with btcec.
func checkOnCurve(t *testing.T, x [32]byte) {
	t.Helper()
	if _, err := schnorr.ParsePubKey(x[:]); OnCurve(x) != (err == nil) {
		t.Errorf("%x: on the curve: %v, btcec: %v", x, OnCurve(x), err)
	}
}

// TestOutputsAreBounded checks that cached outputs are right, and that the cache does
// not exceed its bound.
func TestOutputsAreBounded(t *testing.T) {
	_, x := draw(3) // some digest; the next x that is on the curve
	first, err := OutputKey(x, nil)
	for ; err != nil; first, err = OutputKey(x, nil) {
		x[31]++
	}
	if rooted, err := OutputKey(x, make([]byte, 32)); err != nil || rooted == first {
		t.Errorf("a root of zeros counts as none: %v", err)
	}
	for i := range 2 * maxOutputs {
		outputs.put(tweakInput{root: [32]byte{byte(i), byte(i >> 8)}}, Output{})
	}
	if n := len(outputs.outputs); n != maxOutputs {
		t.Errorf("%d are cached, want %d", n, maxOutputs)
	}
	if again, err := OutputKey(x, nil); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
}
