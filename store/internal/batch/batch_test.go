package batch_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// TestGathers counts what shares a batch: all that is expected, or all that comes
// in time.
func TestGathers(t *testing.T) {
	for name, test := range map[string]struct {
		expected int
		gather   time.Duration
		most     int
		want     []int
	}{
		"alone":            {1, time.Second, 10, []int{1, 1, 1, 1}},
		"two at a time":    {2, time.Second, 10, []int{2, 2}},
		"more than come":   {9, time.Second, 10, []int{4}},
		"no gathering":     {9, 0, 10, []int{1, 1, 1, 1}},
		"no more than max": {9, time.Second, 3, []int{3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sizes []int
				w := batch.New(batch.Options{
					Max: test.most, Gather: test.gather, Expected: func() int { return test.expected },
				}, func(items []int) { sizes = append(sizes, len(items)) })
				for i := range 4 {
					testenv.Must(t, w.Put(t.Context(), i))
					synctest.Wait()
				}
				time.Sleep(2 * time.Second)
				w.Stop()
				if !slices.Equal(sizes, test.want) {
					t.Errorf("batches of %v, want %v", sizes, test.want)
				}
			})
		})
	}
}

// TestQueuesMeanwhile: what is handed in while a batch is written is the next one.
func TestQueuesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var batches [][]int
		w := batch.New(batch.Options{Max: 3}, func(items []int) {
			<-gate
			batches = append(batches, items)
		})
		for i := range 6 {
			go func() {
				if err := w.Put(t.Context(), i); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Put(ctx, 6); err == nil {
			t.Error("the queue is full: Put should wait, and give up with its context")
		}
		close(gate)
		w.Stop()
		if got := slices.Concat(batches...); !slices.Equal(slices.Sorted(slices.Values(got)), []int{0, 1, 2, 3, 4, 5}) || len(batches) != 3 {
			t.Errorf("written: %v", batches)
		}
	})
}

// TestEndedContext hands nothing in, however much room there is.
func TestEndedContext(t *testing.T) {
	w := batch.New(batch.Options{Max: 1}, func([]int) { t.Error("it was handed in") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := w.Put(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	}
	w.Stop()
}

// TestStop: what was handed in is written, and nothing is taken afterwards.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := 0
		w := batch.New(batch.Options{Max: 8, Gather: time.Hour, Expected: func() int { return 9 }}, func(items []int) { written += len(items) })
		for i := range 3 {
			testenv.Must(t, w.Put(t.Context(), i))
		}
		w.Stop()
		w.Stop()
		if written != 3 {
			t.Errorf("%d of 3 are written", written)
		}
		if err := w.Put(t.Context(), 3); !errors.Is(err, batch.ErrStopped) {
			t.Errorf("after Stop: %v", err)
		}
	})
}
