package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// parts are the subjects that have a part in an activity.
type parts []string

// Concerns implements store.Stoppable.
func (p parts) Concerns(subject string) bool { return slices.Contains(p, subject) }

var (
	ofAnn = parts{"", "user ann", "key 1"}
	ofBen = parts{"", "user ben", "key 1", "key 2"}
)

// stoppable returns the claim and the activity of a request that signs.
func (b *bench) stoppable(body string, of store.Stoppable) (store.Claim, store.Activity) {
	b.t.Helper()
	claim, activity := b.sentAt(body, epoch.Add(time.Hour))
	claim.Of, activity.Of = of, of
	return claim, activity
}

// restop records an activity that gives a log these stops and no others.
func (b *bench) restop(node store.Store, body string, subjects ...string) {
	b.t.Helper()
	claim, activity := b.stoppable(body, nil)
	activity.Stops = func([]translog.Stop) (stops []translog.Stop, err error) {
		for _, subject := range subjects {
			stops = append(stops, translog.Stop{Subject: subject, By: "ann", Since: epoch})
		}
		return stops, nil
	}
	b.noError(node.Complete(b.t.Context(), *b.taken(node, claim), activity, nil))
}

// refusesAll checks that a node records nothing of what it had begun, and begins nothing once
// it knows. What waits goes on waiting.
func refusesAll(b *bench, node store.Store, of store.Stoppable, begun map[string]*store.Lease) {
	b.t.Helper()
	nothing := change(func(otpledger.Ledger) (refusal, err error) { return nil, nil })
	for body, lease := range begun {
		_, activity := b.stoppable(body, of)
		for _, with := range []store.Change{nil, nothing} {
			err := node.Complete(b.t.Context(), *lease, activity, with)
			stopped, ok := errors.AsType[*store.StoppedError](err)
			if !ok || !errors.Is(err, store.ErrStopped) || !stopped.Stop.Since.Equal(epoch) {
				b.t.Errorf("%s was begun before: %v, want ErrStopped", body, err)
			}
		}
	}
	for range 2 {
		claim, _ := b.stoppable("new", of)
		for _, with := range []store.Change{nil, nothing} {
			if begun, err := node.Begin(b.t.Context(), claim, with); !errors.Is(err, store.ErrStopped) {
				b.t.Errorf("a new request: %+v, %v, want ErrStopped", begun, err)
			}
		}
	}
	claim, _ := b.stoppable("waits", of)
	claim.Revision = 1
	if begun, err := node.Begin(b.t.Context(), claim, nil); !errors.Is(err, store.ErrStopped) {
		b.t.Errorf("what waited is carried out: %+v, %v", begun, err)
	}
	claim, _ = b.stoppable("done", of)
	if begun, err := node.Begin(b.t.Context(), claim, nil); err != nil || begun.Recorded == nil {
		b.t.Errorf("what was recorded is not answered: %+v, %v", begun, err)
	}
}

// logStops stops a log by one node. The other, which is the same if the store cannot be shared,
// records nothing that the stop applies to from then on, whatever it had begun, until it ends.
func logStops(t *testing.T, b *bench, other store.Store) {
	if other == nil {
		other = b.raw
	}
	done, doneActivity := b.stoppable("done", ofAnn)
	b.noError(other.Complete(t.Context(), *b.taken(other, done), doneActivity, nil))
	waits, waiting := b.stoppable("waits", ofAnn)
	waiting.Waiting, waiting.Leaf = true, nil
	b.noError(other.Complete(t.Context(), *b.taken(other, waits), waiting, nil))
	begun := map[string]*store.Lease{}
	for _, body := range []string{"one", "two"} {
		claim, _ := b.stoppable(body, ofAnn)
		begun[body] = b.taken(other, claim)
	}
	for i, subject := range []string{"", "user ann", "key 1"} {
		b.restop(b.raw, "halt"+subject, "key 9", subject)
		refusesAll(b, other, ofAnn, begun)
		for body, of := range map[string]parts{"of none": nil, "by another": {"user ann 2", "key 11"}} {
			claim, activity := b.stoppable(fmt.Sprint(body, i), of)
			b.noError(other.Complete(t.Context(), *b.taken(other, claim), activity, nil))
		}
	}
	notStopped(b, other, waiting)
	b.restop(other, "resume", "user ben")
	claim, _ := b.stoppable("after", ofAnn)
	begun["after"] = b.taken(b.raw, claim)
	begun["on the other"] = b.taken(other, withBody(claim, "on the other"))
	for body, lease := range begun {
		_, activity := b.stoppable(body, ofAnn)
		b.noError(other.Complete(t.Context(), *lease, activity, nil))
	}
	claim, ben := b.stoppable("ben's", ofBen)
	if begun, err := other.Begin(t.Context(), claim, nil); !errors.Is(err, store.ErrStopped) {
		t.Errorf("the stop of another user has ended: %+v, %v, %s", begun, err, ben.ID)
	}
}

func withBody(claim store.Claim, body string) store.Claim {
	claim.Fingerprint, claim.At = fingerprint(body), at(body)
	return claim
}

// notStopped checks what a stop does not apply to, and a change of stops that fails.
func notStopped(b *bench, node store.Store, waiting store.Activity) {
	b.t.Helper()
	ctx := b.t.Context()
	before, err := b.log.LogHead(ctx, organization)
	b.noError(err)
	failed := errors.New("no")
	claim, activity := b.stoppable("fails", nil)
	activity.Stops = func([]translog.Stop) ([]translog.Stop, error) { return nil, failed }
	lease := b.taken(node, claim)
	if err := node.Complete(ctx, *lease, activity, nil); !errors.Is(err, failed) {
		b.t.Errorf("a change of stops that fails: %v", err)
	}
	b.noError(node.Release(ctx, *lease, nil))
	if after, err := b.log.LogHead(ctx, organization); err != nil || after.Size != before.Size ||
		len(after.Stops) != 2 || after.Stops[0].Subject != "key 9" {
		b.t.Errorf("%+v, %v: want what there was before", after, err)
	}
	b.noError(node.(store.Waiter).Replace(ctx, ended(waiting), b.now, nil))
	b.noError(appendOne(b.t, node))
	claim, elsewhere := b.stoppable("elsewhere", ofAnn)
	claim.OrganizationID = "another"
	b.noError(node.Complete(ctx, *b.taken(node, claim), elsewhere, nil))
}

// stopsAtOnce completes on both nodes while one of them stops the log: nothing is in the log
// after the stop, and what is not was refused.
func stopsAtOnce(t *testing.T, b *bench, other store.Store) {
	const bodies = 60
	nodes := []store.Store{b.raw, b.raw}
	if other != nil {
		nodes[1] = other
	}
	leases, refused := make([]*store.Lease, bodies), make([]error, bodies)
	for i := range bodies {
		claim, _ := b.stoppable(fmt.Sprint(i), ofAnn)
		leases[i] = b.taken(nodes[i%2], claim)
	}
	b.inParallel(bodies, func(i int) {
		if i == bodies/2 {
			b.restop(b.raw, "halt", "")
		}
		_, activity := b.stoppable(fmt.Sprint(i), ofAnn)
		refused[i] = nodes[i%2].Complete(t.Context(), *leases[i], activity, nil)
	})
	halt, err := b.log.LogIndex(t.Context(), organization, "id of halt")
	b.noError(err)
	released := int64(0)
	for i, err := range refused {
		index, found := b.log.LogIndex(t.Context(), organization, fmt.Sprint("id of ", i))
		switch {
		case err == nil && found == nil && index < halt:
			released++
		case !errors.Is(err, store.ErrStopped) || !errors.Is(found, store.ErrNotFound):
			t.Errorf("%d: %v; leaf %d, %v, and that of the stop is %d", i, err, index, found, halt)
		}
	}
	if released != halt {
		t.Errorf("%d were recorded, the stop is leaf %d", released, halt)
	}
}

// stopsReopened checks that a stop survives the process.
func stopsReopened(t *testing.T, h Harness) {
	reopen := h.Reopen(t)
	b := on(t, h, reopen())
	b.restop(b.raw, "halt", "user ann")
	b.noError(b.raw.Close())
	b = on(t, h, reopen())
	claim, _ := b.stoppable("after", ofAnn)
	begun, err := b.raw.Begin(t.Context(), claim, nil)
	if err == nil && begun.Lease != nil { // another process has not read the log yet
		_, activity := b.stoppable("after", ofAnn)
		err = b.raw.Complete(t.Context(), *begun.Lease, activity, nil)
	}
	if !errors.Is(err, store.ErrStopped) {
		t.Errorf("reopened: %+v, %v, want ErrStopped", begun, err)
	}
	b.noError(b.raw.Close())
}
