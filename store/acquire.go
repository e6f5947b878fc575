package store

import (
	"context"
	"time"
)

// Acquire calls Begin until the work is the caller's or done: while another
// holder has the lease, it waits. The claim's Now is taken from the clock each
// time. Of the answer, Wait is never set.
//
// The change is asked for before each Begin, since it may hold a time too; it
// may be nil.
func Acquire(ctx context.Context, s Store, claim Claim, clock func() time.Time, change func(now time.Time) Change) (BeginResult, error) {
	for {
		claim.Now = clock()
		var made Change
		if change != nil {
			made = change(claim.Now)
		}
		begun, err := s.Begin(ctx, claim, made)
		if err != nil || begun.Wait == nil {
			return begun, err
		}
		if err := begun.Wait(ctx); err != nil {
			return BeginResult{}, err
		}
	}
}
