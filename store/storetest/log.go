package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// runLog compares the log of a store that keeps one with its activities.
func runLog(t *testing.T, h Harness) {
	can := open(t, h)
	if can.log == nil {
		return
	}
	t.Run("an activity is a leaf", func(t *testing.T) { logsActivities(t, open(t, h)) })
	t.Run("many at once", func(t *testing.T) { logsAtOnce(t, open(t, h), nil) })
	if can.Lister != nil {
		t.Run("records from before", func(t *testing.T) { logAdopts(t, open(t, h)) })
	}
	t.Run("more than one batch", func(t *testing.T) { logsMany(t, open(t, h)) })
	t.Run("organizations are separate", func(t *testing.T) { logsApart(t, open(t, h)) })
	if can.Waiter != nil {
		t.Run("a conflict", func(t *testing.T) { logConflicts(t, open(t, h), nil) })
		t.Run("stops", func(t *testing.T) { logStops(t, open(t, h), nil) })
	}
	t.Run("a conflict of one of several", func(t *testing.T) { conflictsApart(t, open(t, h)) })
	t.Run("heads", func(t *testing.T) { logHeads(t, open(t, h)) })
	t.Run("a stop under load", func(t *testing.T) { stopsAtOnce(t, open(t, h), nil) })
	if h.Reopen != nil {
		t.Run("a stop and a restart", func(t *testing.T) { stopsReopened(t, h) })
	}
	if h.Nodes != nil && can.Waiter != nil {
		t.Run("two nodes, one conflict", func(t *testing.T) {
			first, other := h.Nodes(t)
			t.Cleanup(func() { _ = errors.Join(first.Close(), other.Close()) })
			logConflicts(t, on(t, h, first), other)
		})
		t.Run("two nodes, stops", func(t *testing.T) {
			first, other := h.Nodes(t)
			t.Cleanup(func() { _ = errors.Join(first.Close(), other.Close()) })
			logStops(t, on(t, h, first), other)
		})
		t.Run("two nodes, a stop under load", func(t *testing.T) {
			first, other := h.Nodes(t)
			t.Cleanup(func() { _ = errors.Join(first.Close(), other.Close()) })
			stopsAtOnce(t, on(t, h, first), other)
		})
		t.Run("two nodes, one log", func(t *testing.T) {
			first, other := h.Nodes(t)
			t.Cleanup(func() { _ = errors.Join(first.Close(), other.Close()) })
			logsAtOnce(t, on(t, h, first), other)
		})
	}
}

// logged returns an activity with its leaf.
func (b *bench) logged(body string) store.Activity {
	b.t.Helper()
	activity := b.activity(body)
	leaf := translog.NewLeaf(activity.OrganizationID, activity.ID, activity.Fingerprint, activity.Data)
	encoded, err := leaf.Encode()
	b.noError(err)
	activity.Leaf = encoded
	return activity
}

// audit rebuilds the log and checks the number of leaves.
func (b *bench) audit(leaves int64) {
	b.t.Helper()
	seen, err := translog.Audit(b.t.Context(), store.LogOf(b.log, organization), nil, b.recordOf)
	b.noError(err)
	if seen.Leaves != leaves {
		b.t.Errorf("the log has %d leaves, want %d", seen.Leaves, leaves)
	}
}

func (b *bench) recordOf(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
	activity, err := b.Get(ctx, leaf.Organization, leaf.ID)
	return activity.Data, err
}

// logsActivities completes with and without a change, and unsuccessfully.
func logsActivities(t *testing.T, b *bench) {
	log := b.log
	nothing := change(func(otpledger.Ledger) (refusal, err error) { return nil, nil })
	refuses := change(func(otpledger.Ledger) (refusal, err error) { return errors.New("no"), nil })
	b.noError(b.Complete(t.Context(), b.lease("a"), b.logged("a"), nil))
	b.noError(b.Complete(t.Context(), b.lease("b"), b.logged("b"), nothing))
	lease := b.lease("c")
	if err := b.Complete(t.Context(), lease, b.logged("c"), refuses); err == nil {
		t.Error("the change refused")
	}
	b.audit(2)
	b.noError(b.Complete(t.Context(), lease, b.logged("c"), nothing))
	if err := b.Complete(t.Context(), lease, b.logged("c"), nil); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("completed twice: %v", err)
	}
	b.audit(3)
	b.complete(b.lease("d"), "d") // without a leaf
	index, err := log.AppendLeaves(t.Context(), organization, store.AnySize,
		[]store.LogEntry{{ID: "id of d", Leaf: b.logged("d").Leaf}})
	if err != nil || index != 3 {
		t.Errorf("a leaf of its own is %d, %v", index, err)
	}
	b.audit(4)
	for i, body := range []string{"a", "b", "c", "d"} {
		if index, err := log.LogIndex(t.Context(), organization, "id of "+body); err != nil || index != int64(i) {
			t.Errorf("the leaf of %s is %d, %v: want %d", body, index, err, i)
		}
	}
	if _, err := log.LogIndex(t.Context(), organization, "nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a leaf that is not there: %v", err)
	}
	if _, err := log.LogRows(t.Context(), organization, []int64{3, 4}); !errors.Is(err, translog.ErrMissing) {
		t.Errorf("a row that is not there: %v", err)
	}
}

// logsAtOnce completes many activities concurrently, over two nodes if the store has
// them: each activity has a leaf, and each leaf its own index.
func logsAtOnce(t *testing.T, b *bench, other store.Store) {
	const bodies = 40
	nodes := []store.Store{b.Store, b.Store}
	if other != nil {
		nodes[1] = other
	}
	b.inParallel(bodies, func(i int) {
		body := fmt.Sprint(i)
		begun, err := nodes[i%2].Begin(t.Context(), b.longClaim(body), nil)
		if err != nil || begun.Lease == nil {
			t.Errorf("%+v, %v: want a lease", begun, err)
			return
		}
		if err := nodes[i%2].Complete(t.Context(), *begun.Lease, b.logged(body), nil); err != nil {
			t.Error(err)
		}
	})
	b.audit(bodies)
	proveAll(b, bodies)
}

// proveAll proves that each leaf is in the log, and that each size extends the one
// before.
func proveAll(b *bench, bodies int64) {
	b.t.Helper()
	source := store.LogOf(b.log, organization)
	for index := range bodies {
		if _, err := translog.Inclusion(b.t.Context(), source, bodies, index); err != nil {
			b.t.Errorf("leaf %d: %v", index, err)
		}
		if _, err := translog.Consistency(b.t.Context(), source, bodies, index); err != nil {
			b.t.Errorf("from %d leaves: %v", index, err)
		}
	}
}

// logAdopts appends the leaves of activities from before there was a log: once, and all
// or none.
func logAdopts(t *testing.T, b *bench) {
	log := b.log
	leafOf := func(recorded *store.Activity) ([]byte, error) {
		return b.logged(strings.TrimPrefix(recorded.ID, "id of ")).Leaf, nil
	}
	adopt := func(want int) {
		t.Helper()
		if n, err := store.Adopt(t.Context(), b.Lister, log, organization, leafOf); n != want || err != nil {
			t.Errorf("%d were adopted, want %d: %v", n, want, err)
		}
	}
	adopt(0)
	const bodies = store.MaxList + 2 // more than a page
	b.inParallel(bodies, func(i int) { b.complete(b.lease(fmt.Sprint(i)), fmt.Sprint(i)) })
	broken := errors.New("broken")
	if _, err := store.Adopt(t.Context(), b.Lister, log, organization,
		func(*store.Activity) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("without leaves: %v", err)
	}
	b.audit(0)
	adopt(bodies)
	b.audit(bodies)
	b.complete(b.lease("slipped in"), "slipped in")
	adopt(0)
	b.audit(bodies)
	if _, err := log.AppendLeaves(t.Context(), organization, bodies-1,
		[]store.LogEntry{{ID: "x", Leaf: []byte("leaf")}}); !errors.Is(err, store.ErrChanged) {
		t.Errorf("appended at another size: %v", err)
	}
	b.noError(b.Complete(t.Context(), b.lease("next"), b.logged("next"), nil))
	b.audit(bodies + 1)
}

// logsMany appends more leaves in one call than a store may send at a time, and then one
// more, which must come after them.
func logsMany(t *testing.T, b *bench) {
	log := b.log
	const leaves = 10_001
	entries := make([]store.LogEntry, leaves)
	want := translog.Head{}
	for i := range entries {
		entries[i] = store.LogEntry{ID: fmt.Sprint(i), Leaf: fmt.Appendf(nil, "leaf %d", i)}
		want.Append(entries[i].Leaf)
	}
	for i, batch := range [][]store.LogEntry{entries, {{ID: "last", Leaf: []byte("last")}}} {
		index, err := log.AppendLeaves(t.Context(), organization, int64(i)*leaves, batch)
		if err != nil || index != int64(i)*leaves {
			t.Errorf("%d leaves begin at %d, %v", len(batch), index, err)
		}
	}
	want.Append([]byte("last"))
	if head, err := log.LogHead(t.Context(), organization); err != nil || head.Tree() != want.Tree() {
		t.Errorf("the log is %v, %v: want %v", head.Tree(), err, want.Tree())
	}
}

func logsApart(t *testing.T, b *bench) {
	log := b.log
	for i := range 3 {
		for _, of := range []string{organization, "another"} {
			if index, err := log.AppendLeaves(t.Context(), of, int64(i),
				[]store.LogEntry{{ID: of, Leaf: []byte("leaf")}}); err != nil || index != int64(i) {
				t.Errorf("leaf %d of %s is %d, %v", i, of, index, err)
			}
		}
	}
	if head, err := log.LogHead(t.Context(), "nobody"); err != nil || head.Size != 0 {
		t.Errorf("a log without leaves: %+v, %v", head, err)
	}
}
