package secp256k1

import "testing"

// TestOutputsAreBounded: what is remembered is right, and not more than the bound.
func TestOutputsAreBounded(t *testing.T) {
	_, x := draw(3) // some digest; the next x that is on the curve
	first, err := OutputKey(x, nil)
	for ; err != nil; first, err = OutputKey(x, nil) {
		x[31]++
	}
	if rooted, err := OutputKey(x, make([]byte, 32)); err != nil || rooted == first {
		t.Errorf("a root of zeros is taken for none: %v", err)
	}
	for i := range 2 * maxOutputs {
		outputs.put(tweakInput{root: [32]byte{byte(i), byte(i >> 8)}}, Output{})
	}
	if n := len(outputs.outputs); n != maxOutputs {
		t.Errorf("%d are remembered", n)
	}
	if again, err := OutputKey(x, nil); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
}
