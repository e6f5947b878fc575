package store

import (
	"context"
	"time"
)

// Acquire calls Begin until the caller has the lease or the work is recorded, waiting
// while another holder has the lease. Wait is never set in its result. The claim's Now
// is read from the clock before each attempt, and change, which may be nil, is called
// with it to create the attempt's change.
func Acquire(ctx context.Context, s Store, claim Claim, clock func() time.Time,
	change func(now time.Time) Change) (BeginResult, error) {
	for {
		claim.Now = clock()
		var attempted Change
		if change != nil {
			attempted = change(claim.Now)
		}
		begun, err := s.Begin(ctx, claim, attempted)
		if err != nil || begun.Wait == nil {
			return begun, err
		}
		if err := begun.Wait(ctx); err != nil {
			return BeginResult{}, err
		}
	}
}
