package measure_test

import (
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
)

func TestMedian(t *testing.T) {
	values := []float64{9, 1, 5, 3, 7}
	if got := measure.Median(values); got != 5 {
		t.Errorf("median %v, want 5", got)
	}
	if values[0] != 9 {
		t.Error("the values were sorted in place")
	}
}

// TestPairs times two clocks that are made up: the ratio is theirs exactly.
func TestPairs(t *testing.T) {
	clock := func(perCall time.Duration) measure.Timer {
		return func(_, calls int) time.Duration { return time.Duration(calls) * perCall }
	}
	result := testing.Benchmark(func(b *testing.B) {
		measure.Pairs(b, 5, clock(3*time.Microsecond), clock(2*time.Microsecond))
	})
	for unit, want := range map[string]float64{"ratio": 1.5, "ns/ours": 3000, "ns/theirs": 2000} {
		if got := result.Extra[unit]; got != want {
			t.Errorf("%s is %v, want %v", unit, got, want)
		}
	}
}

// TestPairsRotate sees every number once and in order: no input is favoured.
func TestPairsRotate(t *testing.T) {
	next := 0
	timer := func(from, calls int) time.Duration {
		if from != next {
			t.Fatalf("a run starts at %d, want %d", from, next)
		}
		next += calls
		return time.Duration(calls) * time.Millisecond
	}
	other := func(_, calls int) time.Duration { return time.Duration(calls) * time.Millisecond }
	testing.Benchmark(func(b *testing.B) {
		next = 0
		measure.Pairs(b, 7, timer, other)
	})
}
