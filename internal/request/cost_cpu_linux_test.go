package request_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
)

// costRuns is how often each body is sent. The minimum counts, since cache misses can
// only make a run slower.
const costRuns = 5

// processorTime returns the minimum processor time of several runs, which does not
// depend on the load of the machine.
func processorTime(b *testing.B, do func()) time.Duration {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var at unix.Timespec
		testenv.Must(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at))
		return time.Duration(at.Nano())
	}
	least := time.Duration(math.MaxInt64)
	for range costRuns {
		before := used()
		do()
		least = min(least, used()-before)
	}
	return least
}

// BenchmarkLongMembers submits each string of each activity type with a quarter, a half
// and all of its longest value, as a registered client and as a stranger. ms/256KiB is
// the processor time of the most expensive content, for a body of that size or less.
// x2/x1 and x4/x2 are the largest factors by which the time grows when the body doubles:
// about 2 if the work is linear. Bodies of less than 16 KiB have no factor.
func BenchmarkLongMembers(b *testing.B) {
	f := enginetest.New(b, enginetest.WithOTP(b, new(enginetest.Outbox)))
	votes := ballot.New(b)
	strangers := enginetest.NewAPIKey(b)
	for _, body := range costBodies(votes.Waiting()) {
		engine, key, clock := f.Engine, f.APIKey, f.Clock
		if slices.Contains(ballot.VoteTypes, body.kind) {
			engine, key, clock = votes.Engine, votes.Ann, votes.Clock
		}
		for name, client := range map[string]*enginetest.APIKey{"registered": key, "stranger": strangers} {
			b.Run(fmt.Sprintf("%s/%s/%s", body.kind, body.name, name), func(b *testing.B) {
				for b.Loop() {
					costGrowth(b, &body, func() func() {
						clock.Advance(time.Millisecond)
						signed := client.Sign(body.text(b, clock.Now()))
						return func() { _, _ = engine.Submit(context.Background(), signed) }
					})
				}
			})
		}
	}
}

// costGrowth measures all members of a body and reports the worst one.
func costGrowth(b *testing.B, body *costBody, prepare func() func()) {
	type one struct {
		size int
		took time.Duration
	}
	var sizes [3]map[string]one
	for i, divisor := range []int{4, 2, 1} {
		sizes[i] = map[string]one{}
		body.each(b, body.of, divisor, func(member, fill string) {
			submit := prepare()
			sizes[i][member+" of "+fill] = one{len(body.text(b, time.Unix(1, 0))), processorTime(b, submit)}
		})
	}
	var per256, x2, x4 float64
	var worst string
	for what, whole := range sizes[2] {
		if per := whole.took.Seconds() * 1000 / max(1, float64(whole.size)/(256<<10)); per > per256 {
			per256, worst = per, what
		}
		quarter, half := sizes[0][what], sizes[1][what]
		if whole.size > 16<<10 {
			x2 = max(x2, float64(half.took)/float64(quarter.took))
			x4 = max(x4, float64(whole.took)/float64(half.took))
		}
	}
	b.Logf("slowest: %.40q", worst)
	b.ReportMetric(per256, "ms/256KiB")
	b.ReportMetric(x2, "x2/x1")
	b.ReportMetric(x4, "x4/x2")
}
