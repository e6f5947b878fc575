package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// sentAt returns the claim and the activity of a request of an organization with a log.
func (b *bench) sentAt(body string, sent time.Time) (store.Claim, store.Activity) {
	b.t.Helper()
	claim, activity := b.longClaim(body), b.logged(body)
	claim.Sent, activity.Sent = sent, sent
	return claim, activity
}

// conflict is that of a node that has seen more leaves than there are.
func conflict(leaves int64) translog.Conflict {
	return translog.Conflict{Remembered: tlog.Tree{N: leaves, Hash: tlog.Hash{1}}, Seen: epoch,
		Found: epoch.Add(time.Second)}
}

// logConflicts marks a log by one node: the other, which is the same if the store cannot
// be shared, records nothing from then on, whatever it had begun. After the acceptance it
// carries out only what was sent later.
func logConflicts(t *testing.T, b *bench, other store.Store) {
	if other == nil {
		other = b.raw
	}
	log := b.log
	nothing := change(func(otpledger.Ledger) (refusal, err error) { return nil, nil })
	claim, done := b.sentAt("done", epoch)
	b.noError(other.Complete(t.Context(), *b.taken(other, claim), done, nil))
	waitClaim, waits := b.sentAt("waits", epoch)
	waits.Waiting, waits.Leaf = true, nil
	b.noError(other.Complete(t.Context(), *b.taken(other, waitClaim), waits, nil))

	begunClaim, begun := b.sentAt("begun", epoch)
	lease := b.taken(other, begunClaim)
	laterClaim, later := b.sentAt("later", epoch)
	later.Waiting, later.Leaf = true, nil
	laterLease := b.taken(other, laterClaim)
	before, err := log.MarkConflict(t.Context(), organization, conflict(9))
	b.noError(err)
	for name, err := range map[string]error{
		"with a change":    other.Complete(t.Context(), *lease, begun, nothing),
		"without":          other.Complete(t.Context(), *lease, begun, nil),
		"to wait":          other.Complete(t.Context(), *laterLease, later, nil),
		"begin":            begin(t, other, b, "new", epoch.Add(time.Hour)),
		"begin a recorded": begin(t, other, b, "done", epoch),
		"replace":          other.(store.Waiter).Replace(t.Context(), ended(waits), b.now, nil),
		"append":           appendOne(t, other),
	} {
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v, want ErrConflict", name, err)
		}
	}
	if recorded, err := other.Get(t.Context(), organization, done.ID); err != nil || recorded.ID != done.ID {
		t.Errorf("reads go on: %+v, %v", recorded, err)
	}
	head := b.accept(log, other.(store.Log), before)
	until := head.Accepted
	if want := epoch.Add(time.Minute); until.Before(want) || head.Conflict != nil || head.Size != before.Size+1 {
		t.Errorf("accepted: %+v, want a leaf more and no earlier than %v", head, want)
	}
	for _, node := range []store.Store{b.Store, other} {
		b.superseded(node, until)
	}
	if err := other.Complete(t.Context(), *lease, begun, nil); !errors.Is(err, store.ErrStale) {
		t.Errorf("a lease from before is completed: %v", err)
	}
	b.noError(other.(store.Waiter).Replace(t.Context(), ended(waits), b.now, nil))
	claim, next := b.sentAt("next", until.Add(time.Millisecond))
	b.noError(other.Complete(t.Context(), *b.taken(other, claim), next, nil))
	if head, err := log.LogHead(t.Context(), organization); err != nil || !head.Accepted.Equal(until) ||
		head.Size != before.Size+3 {
		t.Errorf("%+v, %v: the acceptance stays", head, err)
	}
}

// accept accepts the conflict at a head: only the one that is there, and only once.
func (b *bench) accept(log, other store.Log, before translog.Head) translog.Head {
	b.t.Helper()
	ctx := b.t.Context()
	if head, err := log.MarkConflict(ctx, organization, conflict(8)); err != nil || head.Conflict.Remembered.N != 9 {
		b.t.Errorf("a node that saw less: %+v, %v", head, err)
	}
	if head, err := other.MarkConflict(ctx, organization, conflict(10)); err != nil ||
		head.Conflict.Remembered.N != 10 {
		b.t.Errorf("a node that saw more: %+v, %v", head, err)
	}
	accepted := store.Acceptance{
		Remembered: conflict(10).Remembered, Found: before.Tree(), Now: epoch, Skew: time.Minute,
		Leaf: store.LogEntry{ID: "accept/1", Leaf: []byte("accepted")},
	}
	for name, change := range map[string]func(*store.Acceptance){
		"another memory": func(a *store.Acceptance) { a.Remembered = conflict(9).Remembered },
		"another root":   func(a *store.Acceptance) { a.Remembered.Hash = tlog.Hash{2} },
		"another log":    func(a *store.Acceptance) { a.Found.Hash = tlog.Hash{2} },
		"another size":   func(a *store.Acceptance) { a.Found.N++ },
	} {
		wrong := accepted
		change(&wrong)
		if _, err := log.AcceptConflict(ctx, organization, wrong); !errors.Is(err, store.ErrChanged) {
			b.t.Errorf("%s: %v, want ErrChanged", name, err)
		}
	}
	head, err := log.AcceptConflict(ctx, organization, accepted)
	b.noError(err)
	if _, err := log.AcceptConflict(ctx, organization, accepted); !errors.Is(err, store.ErrChanged) {
		b.t.Errorf("accepted twice: %v, want ErrChanged", err)
	}
	heads, err := other.LogHeads(ctx)
	b.noError(err)
	if recorded := heads[organization]; recorded.Tree() != head.Tree() || !recorded.Accepted.Equal(head.Accepted) {
		b.t.Errorf("%+v, want %+v", recorded, head)
	}
	if index, err := log.LogIndex(ctx, organization, "accept/1"); err != nil || index != before.Size {
		b.t.Errorf("the leaf is %d, %v: want %d", index, err, before.Size)
	}
	return head
}

// superseded checks that requests up to a time are not carried out, and those that are
// recorded answered.
func (b *bench) superseded(node store.Store, until time.Time) {
	b.t.Helper()
	for _, sent := range []time.Time{epoch, until} {
		err := begin(b.t, node, b, "unrecorded", sent)
		refused, ok := errors.AsType[*store.SupersededError](err)
		if !ok || !errors.Is(err, store.ErrStale) || !refused.Until.Equal(until) {
			b.t.Errorf("sent at %v: %v, want what is superseded until %v", sent, err, until)
		}
	}
	claim, _ := b.sentAt("waits", epoch)
	claim.Revision = 1
	if begun, err := node.Begin(b.t.Context(), claim, nil); !errors.Is(err, store.ErrStale) {
		b.t.Errorf("a waiting activity is carried out: %+v, %v", begun, err)
	}
	claim, _ = b.sentAt("done", epoch)
	if begun, err := node.Begin(b.t.Context(), claim, nil); err != nil || begun.Recorded == nil ||
		begun.Recorded.ID != "id of done" {
		b.t.Errorf("a recorded request: %+v, %v", begun, err)
	}
}

// taken begins a request and returns its lease.
func (b *bench) taken(node store.Store, claim store.Claim) *store.Lease {
	b.t.Helper()
	begun, err := node.Begin(b.t.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		b.t.Fatalf("%+v, %v: want a lease", begun, err)
	}
	return begun.Lease
}

// begin begins a request, with and without a change, and returns the error of both.
func begin(t testing.TB, node store.Store, b *bench, body string, sent time.Time) error {
	t.Helper()
	claim, _ := b.sentAt(body, sent)
	begun, err := node.Begin(t.Context(), claim, nil)
	with, withErr := node.Begin(t.Context(), claim,
		change(func(otpledger.Ledger) (refusal, err error) { return nil, nil }))
	if begun.Lease != nil || with.Lease != nil || (err == nil) != (withErr == nil) {
		t.Errorf("%s: %+v, %v without a change, %+v, %v with one", body, begun, err, with, withErr)
	}
	return err
}

// ended returns an activity that waited as one that was rejected.
func ended(waits store.Activity) store.Activity {
	waits.Waiting, waits.Revision = false, 1
	waits.Leaf = []byte("rejected")
	return waits
}

func appendOne(t testing.TB, node store.Store) error {
	t.Helper()
	_, err := node.(store.Log).AppendLeaves(t.Context(), organization, store.AnySize,
		[]store.LogEntry{{ID: "policy", Leaf: []byte("leaf")}})
	return err
}

// conflictsApart completes activities of several organizations at once, one of which has
// a conflict: only its own are refused.
func conflictsApart(t *testing.T, b *bench) {
	log := b.log
	const bodies = 30
	leases, done := make([]store.Lease, bodies), make([]store.Activity, bodies)
	organizationOf := func(i int) string { return fmt.Sprint("organization ", i%3) }
	for i := range bodies {
		claim, activity := b.sentAt(fmt.Sprint(i), epoch)
		claim.OrganizationID = organizationOf(i)
		leases[i], done[i] = *b.taken(b.Store, claim), activity
	}
	_, err := log.MarkConflict(t.Context(), organizationOf(1), conflict(3))
	b.noError(err)
	b.inParallel(bodies, func(i int) {
		err := b.Complete(t.Context(), leases[i], done[i], nil)
		if refused := errors.Is(err, store.ErrConflict); refused != (i%3 == 1) || !refused && err != nil {
			t.Errorf("of %s: %v", organizationOf(i), err)
		}
	})
	heads, err := log.LogHeads(t.Context())
	b.noError(err)
	for i, want := range []int64{bodies / 3, 0, bodies / 3} {
		if got := heads[organizationOf(i)].Size; got != want {
			t.Errorf("%s has %d leaves, want %d", organizationOf(i), got, want)
		}
	}
}

// logHeads reads the heads of all logs, and of some.
func logHeads(t *testing.T, b *bench) {
	log := b.log
	heads, err := log.LogHeads(t.Context())
	if err != nil || len(heads) > 0 {
		t.Errorf("without logs: %v, %v", heads, err)
	}
	want := map[string]translog.Head{}
	for i, of := range []string{"one", "two", "three"} {
		var head translog.Head
		for n := range i + 1 {
			leaf := fmt.Appendf(nil, "leaf %d of %s", n, of)
			head.Append(leaf)
			if _, err := log.AppendLeaves(t.Context(), of, store.AnySize,
				[]store.LogEntry{{ID: fmt.Sprint(n), Leaf: leaf}}); err != nil {
				t.Fatal(err)
			}
		}
		want[of] = head
	}
	for _, asked := range [][]string{nil, {"one"}, {"three", "two"}, {"nothing", "one"}} {
		heads, err := log.LogHeads(t.Context(), asked...)
		b.noError(err)
		count := 0
		for of, head := range heads {
			expected := want[of]
			if head.Tree() != expected.Tree() {
				t.Errorf("%q: %s is %v, want %v", asked, of, head.Tree(), expected.Tree())
			}
			if head.Size > 0 {
				count++
			}
		}
		if expected := map[int]int{0: 3, 1: 1, 2: 2}[len(asked)]; count != expected && asked != nil &&
			asked[0] != "nothing" || asked == nil && count != 3 {
			t.Errorf("%q: %d logs", asked, count)
		}
	}
}
