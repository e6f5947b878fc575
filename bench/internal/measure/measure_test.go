package measure_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/internal/testenv"
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

// TestPairs uses two fake clocks, whose ratio is known exactly.
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

// TestPairsRotate checks that the counter takes every value once, in order, so that all
// inputs are used equally.
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

// TestSetUpIsNotMeasured allocates a hundred times per call during setup, none of
// which may count.
func TestSetUpIsNotMeasured(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime")
	was := benchtime.Value.String()
	t.Cleanup(func() { _ = flag.Set(benchtime.Name, was) })
	const calls = 100
	testenv.Must(t, flag.Set(benchtime.Name, fmt.Sprintf("%dx", calls)))
	for name, run := range map[string]func(*testing.B, func(int)){"parallel": measure.Parallel, "serial": measure.Serial, "loop": measure.Loop} {
		t.Run(name, func(t *testing.T) {
			var allocated [][]byte
			result := testing.Benchmark(func(b *testing.B) {
				for range 100 * calls {
					allocated = append(allocated, make([]byte, 1))
				}
				run(b, func(int) {})
			})
			if len(allocated) == 0 || result.AllocsPerOp() != 0 {
				t.Errorf("%d allocations per operation, want none", result.AllocsPerOp())
			}
		})
	}
}

// TestQuantile checks quantiles of the numbers from 0 to 100.
func TestQuantile(t *testing.T) {
	values := make([]int, 101)
	for i := range values {
		values[i] = i
	}
	for share, want := range map[float64]int{0: 0, .5: 50, .99: 99, 1: 100} {
		if got := measure.Quantile(values, share); got != want {
			t.Errorf("quantile %v is %d, want %d", share, got, want)
		}
	}
}
