package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/store"
)

// runCrowd checks that no more activities wait than may.
func runCrowd(t *testing.T, h Harness) {
	if open(t, h).Waiter == nil {
		return
	}
	t.Run("a user has a share", func(t *testing.T) { crowdOfUser(open(t, h)) })
	t.Run("an organization has a bound", func(t *testing.T) { crowdOfOrganization(open(t, h)) })
	t.Run("many at once: never more than may", func(t *testing.T) {
		b := open(t, h)
		crowdAtOnce(b, func(int) store.Store { return b.Store })
	})
}

// wait records an activity of a user that waits, unless there are too many.
func (b *bench) wait(s store.Store, body, user string, most store.Crowd) error {
	b.t.Helper()
	begun, err := s.Begin(b.t.Context(), b.longClaim(body), nil)
	if err != nil {
		return err
	}
	activity := b.activity(body)
	activity.User, activity.Waiting, activity.Most = user, true, most
	err = s.Complete(b.t.Context(), *begun.Lease, activity, nil)
	if err != nil {
		return errors.Join(err, s.Release(b.t.Context(), *begun.Lease, nil)) // which only the holder can
	}
	return nil
}

func crowdOfUser(b *bench) {
	most := store.Crowd{OfUser: 2}
	b.noError(b.wait(b.Store, "a", "ann", most))
	b.noError(b.wait(b.Store, "b", "ann", most))
	err := b.wait(b.Store, "c", "ann", most)
	b.is(err, store.ErrCrowded)
	refused, _ := errors.AsType[*store.CrowdedError](err)
	b.same(&store.CrowdedError{Waiting: 2, OfUser: true}, refused)
	_, err = b.Get(b.t.Context(), organization, b.activity("c").ID)
	b.is(err, store.ErrNotFound)
	b.noError(b.wait(b.Store, "d", "ben", most))
	b.complete(b.lease("done"), "done") // one that does not wait is not bounded

	ended := b.activity("a")
	ended.Status = "REFUSED"
	b.noError(b.Replace(b.t.Context(), ended, b.now, nil))
	b.noError(b.wait(b.Store, "c", "ann", most))
}

func crowdOfOrganization(b *bench) {
	most := store.Crowd{OfUser: 2, OfOrganization: 3}
	for i := range 3 {
		b.noError(b.wait(b.Store, fmt.Sprint(i), fmt.Sprint("user ", i), most))
	}
	err := b.wait(b.Store, "a", "ann", most)
	refused, _ := errors.AsType[*store.CrowdedError](err)
	b.same(&store.CrowdedError{Waiting: 3}, refused)

	claim := b.longClaim("a")
	claim.OrganizationID = "another"
	begun, err := b.Begin(b.t.Context(), claim, nil)
	b.noError(err)
	activity := b.activity("a")
	activity.Waiting, activity.Most = true, most
	b.noError(b.Complete(b.t.Context(), *begun.Lease, activity, nil))
}

// crowdAtOnce has two users' activities begin to wait at the same time.
func crowdAtOnce(b *bench, node func(i int) store.Store) {
	const each, most = 24, 5
	var waiting [2]atomic.Int64
	b.inParallel(2*each, func(i int) {
		switch err := b.wait(node(i/2), fmt.Sprint(i), fmt.Sprint("user ", i%2), store.Crowd{OfUser: most}); {
		case err == nil:
			waiting[i%2].Add(1)
		case !errors.Is(err, store.ErrCrowded):
			b.t.Error(err)
		}
	})
	b.same([]int64{most, most}, []int64{waiting[0].Load(), waiting[1].Load()})
	left, err := b.Waiting(b.t.Context())
	b.noError(err)
	b.same(2*most, len(left))
}
