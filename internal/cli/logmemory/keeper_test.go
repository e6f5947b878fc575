package logmemory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/translog"
)

// node is a keeper over a store in a file, with its own memory and clock.
type node struct {
	t        *testing.T
	path     string // of the memory
	now      time.Time
	logged   bytes.Buffer
	accepted []string
	*logmemory.Keeper
}

func newNode(t *testing.T) *node {
	return &node{t: t, path: filepath.Join(t.TempDir(), "log.memory"), now: time.Date(2026, time.May, 4, 3, 2, 1, 5e6, time.UTC)}
}

// opens starts the node over a store.
func (n *node) opens(log store.Log) {
	n.t.Helper()
	var err error
	n.Keeper, err = logmemory.New(logmemory.Options{
		Path: n.path, Log: log, Skew: time.Minute, Now: func() time.Time { return n.now },
		Logger:   slog.New(slog.NewTextHandler(&n.logged, nil)),
		Accepted: func(_ context.Context, organization string) { n.accepted = append(n.accepted, organization) },
	})
	testenv.Must(n.t, err)
	n.check()
}

// check checks and writes.
func (n *node) check() {
	n.t.Helper()
	n.now = n.now.Add(time.Second)
	testenv.Must(n.t, errors.Join(n.Check(n.t.Context()), n.Write()))
}

// has checks which organizations have a conflict.
func (n *node) has(why string, conflicts ...string) {
	n.t.Helper()
	if got := n.Conflicts(); !slices.Equal(got, conflicts) {
		n.t.Errorf("%s: conflicts of %q, want %q\n%s", why, got, conflicts, n.logged.String())
	}
}

// confirms confirms the conflict that the file has.
func (n *node) confirms(organization string) {
	n.t.Helper()
	remembered, err := logmemory.Read(n.path)
	if err != nil || remembered[organization].Conflict == nil {
		n.t.Fatalf("%+v, %v", remembered, err)
	}
	testenv.Must(n.t, logmemory.Confirm(n.path, organization, remembered[organization].Conflict))
}

func opened(t *testing.T, path string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// grow appends leaves that are different in each call.
func grow(t *testing.T, log store.Log, organization string, leaves int) {
	t.Helper()
	for range leaves {
		grown++
		entry := store.LogEntry{ID: fmt.Sprint(grown), Leaf: fmt.Appendf(nil, "leaf %d", grown)}
		if _, err := log.AppendLeaves(t.Context(), organization, store.AnySize, []store.LogEntry{entry}); err != nil {
			t.Fatal(err)
		}
	}
}

var grown int

// copied closes a store and returns a copy of its file, open.
func copied(t *testing.T, s *bolt.Store, path string) string {
	t.Helper()
	testenv.Must(t, s.Close())
	content := testenv.Read(t, path)
	to := filepath.Join(t.TempDir(), "state.db")
	testenv.Write(t, to, content)
	return to
}

// openedWithOlder opens a store, and returns a copy of its file of when it had two leaves.
func openedWithOlder(t *testing.T) (s *bolt.Store, older string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s = opened(t, path)
	grow(t, s, "one", 2)
	older = copied(t, s, path)
	return opened(t, path), older
}

func leaves(t *testing.T, log store.Log, organization string) translog.Head {
	t.Helper()
	head, err := log.LogHead(t.Context(), organization)
	testenv.Must(t, err)
	return head
}

// TestFollows: a log that grows is followed, across restarts, and an organization that is
// not used for a while keeps its place. There is no alarm.
func TestFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, n := opened(t, path), newNode(t)
	n.opens(s)
	for round := range 20 {
		grow(t, s, "one", 1+round%3)
		if round < 5 || round > 15 { // then it is removed, and added again
			grow(t, s, "two", 1)
		}
		if round%2 == 0 {
			n.Moved("one")
			n.check()
		}
		if round%5 == 4 { // without having written the last: it is behind, never ahead
			n.opens(s)
		}
		n.has(fmt.Sprint("round ", round))
	}
	n.check()
	remembered, err := logmemory.Read(n.path)
	for _, organization := range []string{"one", "two"} {
		if head := leaves(t, s, organization); err != nil || remembered[organization].Tree != head.Tree() {
			t.Errorf("%s: %+v, %v", organization, remembered, err)
		}
	}
	if n.logged.Len() > 0 {
		t.Errorf("logged: %s", n.logged.String())
	}
}

// TestConflicts puts back, empties and continues a store under a node: the log is marked
// for all nodes, and stays so until exactly that conflict is confirmed.
func TestConflicts(t *testing.T) {
	for name, test := range map[string]struct {
		before, lost, after int // leaves in the copy, lost with the original, grown in the copy
		describes           string
	}{
		"put back":                    {5, 3, 0, "8 leaves were seen, last at 2026-05-04T03:02:03Z, and the store has 5: 3 leaves missing at least"},
		"emptied":                     {0, 3, 0, "and the store has 0: 3 leaves missing at least"},
		"continued":                   {5, 3, 1, "and the store has 6: 2 leaves missing at least"},
		"continued to the same size":  {5, 3, 3, "and the store has 8: another history"},
		"continued to a greater size": {5, 3, 9, "and the store has 14: another history"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			s := opened(t, path)
			grow(t, s, "one", test.before)
			grow(t, s, "two", 4)
			older := copied(t, s, path)
			s = opened(t, path)
			n := newNode(t)
			n.opens(s)
			grow(t, s, "one", test.lost)
			n.check()

			back := opened(t, older)
			grow(t, back, "one", test.after)
			n.opens(back)
			n.has("put back", "one")
			if !strings.Contains(n.logged.String(), test.describes) {
				t.Errorf("logged: %s, want %s", n.logged.String(), test.describes)
			}
			_, err := back.AppendLeaves(t.Context(), "one", store.AnySize, []store.LogEntry{{ID: "x", Leaf: []byte("x")}})
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("the log grows: %v", err)
			}
			grow(t, back, "two", 1)
			other := newNode(t)
			other.opens(back)
			other.has("a node that remembers nothing", "one")
			n.check()
			n.has("checked again", "one")
			if strings.Count(n.logged.String(), "level=ERROR") != 1 {
				t.Errorf("logged more than once: %s", n.logged.String())
			}

			at := leaves(t, back, "one")
			n.confirms("one")
			n.check()
			n.has("accepted")
			other.check()
			other.has("accepted elsewhere")
			n.opens(back)
			n.has("restarted")
			head := leaves(t, back, "one")
			if want := n.now.Add(time.Minute - 5*time.Second); head.Size != at.Size+1 || head.Conflict != nil || head.Accepted.Before(want) {
				t.Errorf("%+v, want a leaf more, and accepted until %v at least", head, want)
			}
			if !slices.Equal(n.accepted, []string{"one"}) || !logmemory.Unconfirmed(n.path, "one") {
				t.Errorf("accepted: %q", n.accepted)
			}
			grow(t, back, "one", 20)
			n.check()
			n.has("grown")
		})
	}
}

// TestConfirmsExactly: a confirmation is of one conflict. It is dropped if there is another.
func TestConfirmsExactly(t *testing.T) {
	s, older := openedWithOlder(t)
	n, more := newNode(t), newNode(t)
	grow(t, s, "one", 2)
	n.opens(s)
	grow(t, s, "one", 2)
	more.opens(s)

	back := opened(t, older)
	n.opens(back)
	n.has("two leaves are missing", "one")
	n.confirms("one")
	more.opens(back)
	more.has("four leaves are missing", "one")
	n.check()
	n.has("another node has seen more since", "one")
	if !logmemory.Unconfirmed(n.path, "one") || leaves(t, back, "one").Size != 2 || !strings.Contains(n.logged.String(), "another conflict was confirmed") {
		t.Errorf("a confirmation of another conflict: %s", n.logged.String())
	}
	n.confirms("one") // a node confirms what all nodes know together
	n.check()
	more.check()
	n.has("accepted")
	more.has("accepted by the other")
}

// TestAcceptedTwice: a node that checks only after the acceptance finds a conflict of its
// own. Putting the store back once more is another conflict, too.
func TestAcceptedTwice(t *testing.T) {
	s, older := openedWithOlder(t)
	n, late := newNode(t), newNode(t)
	grow(t, s, "one", 4)
	n.opens(s)
	late.opens(s)

	back := opened(t, older)
	n.opens(back)
	n.confirms("one")
	n.check()
	n.has("accepted")
	late.opens(back)
	late.has("it has not seen the conflict", "one")
	n.check()
	n.has("marked by the other", "one")
	late.confirms("one")
	late.check()
	n.check()
	n.has("accepted again")
	late.has("accepted again")

	whole := copied(t, back, older)
	back = opened(t, whole)
	grow(t, back, "one", 1)
	n.opens(back)
	n.has("grown")
	n.opens(opened(t, older))
	n.has("the store of before the last leaf", "one")
	n.opens(back)
	n.has("the whole store is back")
}

// TestEmptiedStore: the loss of a whole store is confirmed before there is a new one.
func TestEmptiedStore(t *testing.T) {
	n := newNode(t)
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	grow(t, s, "one", 3)
	n.opens(s)
	remembered, err := logmemory.Read(n.path)
	if err != nil || !slices.Equal(remembered.Known(), []string{"one"}) {
		t.Fatalf("%+v, %v", remembered, err)
	}
	lost := logmemory.Lost(remembered["one"])
	if logmemory.Confirmed(n.path, "one", lost) {
		t.Error("confirmed without a confirmation")
	}
	testenv.Must(t, logmemory.Confirm(n.path, "one", lost))
	if !logmemory.Confirmed(n.path, "one", lost) || logmemory.Confirmed(n.path, "two", lost) {
		t.Error("the confirmation is of one loss")
	}
	replaced := opened(t, filepath.Join(t.TempDir(), "state.db"))
	n.opens(replaced)
	n.has("confirmed before")
	if head := leaves(t, replaced, "one"); head.Size != 1 || head.Accepted.IsZero() {
		t.Errorf("%+v, want the acceptance", head)
	}
}

// TestLossConfirmsNoOther: a confirmed loss of everything is not one of a part.
func TestLossConfirmsNoOther(t *testing.T) {
	s, older := openedWithOlder(t)
	grow(t, s, "one", 2)
	n := newNode(t)
	n.opens(s)
	remembered, err := logmemory.Read(n.path)
	testenv.Must(t, err)
	testenv.Must(t, logmemory.Confirm(n.path, "one", logmemory.Lost(remembered["one"])))
	n.opens(opened(t, older))
	n.has("a part is there", "one")
}

// TestNotWritable: a memory that cannot be written is counted and logged once, and keeps
// nothing from its work.
func TestNotWritable(t *testing.T) {
	n := newNode(t)
	n.path = filepath.Join(t.TempDir(), "missing", "log.memory")
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	var err error
	n.Keeper, err = logmemory.New(logmemory.Options{Path: n.path, Log: s, Now: time.Now, Logger: slog.New(slog.NewTextHandler(&n.logged, nil))})
	testenv.Must(t, err)
	for range 3 {
		grow(t, s, "one", 1)
		testenv.Must(t, n.Check(t.Context()))
		if err := n.Write(); err == nil {
			t.Error("written")
		}
	}
	if n.Failures() != 3 || strings.Count(n.logged.String(), "cannot be written") != 1 {
		t.Errorf("%d failures, logged: %s", n.Failures(), n.logged.String())
	}
	testenv.Must(t, os.Mkdir(filepath.Dir(n.path), 0o700))
	testenv.Must(t, n.Write())
	n.Close()
	if remembered, err := logmemory.Read(n.path); err != nil || remembered["one"].Tree.N != 3 {
		t.Errorf("%+v, %v", remembered, err)
	}
}

// brokenLog is a log that cannot be read.
type brokenLog struct {
	store.Log
	heads, rows error
}

func (b *brokenLog) LogHeads(ctx context.Context, organizations ...string) (map[string]translog.Head, error) {
	if b.heads != nil {
		return nil, b.heads
	}
	return b.Log.LogHeads(ctx, organizations...)
}

func (b *brokenLog) LogRows(ctx context.Context, organization string, indexes []int64) ([]translog.Row, error) {
	if b.rows != nil {
		return nil, b.rows
	}
	return b.Log.LogRows(ctx, organization, indexes)
}

// TestUnreadableIsNoConflict: a store that cannot be read at the moment proves nothing. One
// whose leaves are gone or changed does not extend what was seen.
func TestUnreadableIsNoConflict(t *testing.T) {
	s, n := opened(t, filepath.Join(t.TempDir(), "state.db")), newNode(t)
	grow(t, s, "one", 3)
	broken := &brokenLog{Log: s}
	n.opens(broken)
	grow(t, s, "one", 4)
	for _, fail := range []func(){
		func() { broken.heads, broken.rows = store.ErrUnavailable, nil },
		func() { broken.heads, broken.rows = nil, store.ErrUnavailable },
		func() { broken.heads, broken.rows = nil, context.DeadlineExceeded },
	} {
		fail()
		if err := n.Check(t.Context()); err == nil {
			t.Error("checked")
		}
		n.has("unreadable")
	}
	broken.heads, broken.rows = nil, fmt.Errorf("%w: leaf 1", translog.ErrMissing)
	n.check()
	n.has("a leaf is gone", "one")
}

// TestEditedMemory edits the file between two runs. A memory that is ahead, or of another
// history, is a conflict of that organization alone; one that is behind, or knows an
// organization that was removed, is none.
func TestEditedMemory(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	grow(t, s, "one", 3)
	grow(t, s, "two", 3)
	before := leaves(t, s, "one")
	first := before.Tree()
	grow(t, s, "one", 3)
	head := leaves(t, s, "one")
	for name, test := range map[string]struct {
		edited    logmemory.Memory
		conflicts []string
	}{
		"behind":       {logmemory.Memory{"one": {Tree: first}}, nil},
		"nothing":      {logmemory.Memory{}, nil},
		"no leaves":    {logmemory.Memory{"gone": {}}, nil},
		"ahead":        {logmemory.Memory{"one": {Tree: tlog.Tree{N: head.Size + 1, Hash: tlog.Hash{1}}}}, []string{"one"}},
		"other root":   {logmemory.Memory{"one": {Tree: tlog.Tree{N: head.Size, Hash: tlog.Hash{1}}}}, []string{"one"}},
		"far ahead":    {logmemory.Memory{"two": {Tree: tlog.Tree{N: 1 << 62, Hash: tlog.Hash{1}}}}, []string{"two"}},
		"other's tree": {logmemory.Memory{"two": {Tree: head.Tree()}}, []string{"two"}},
	} {
		n := newNode(t)
		testenv.Write(t, n.path, test.edited.Encode())
		n.opens(s)
		n.has(name, test.conflicts...)
		for _, organization := range test.conflicts { // for the next case
			n.confirms(organization)
			n.check()
			n.has(name + ", accepted")
		}
	}
}

// TestMarkRemoved: a mark that was removed from the store, with the rest as it is, comes back
// with the next check, and the loss is not taken for accepted.
func TestMarkRemoved(t *testing.T) {
	s, older := openedWithOlder(t)
	grow(t, s, "one", 2)
	n := newNode(t)
	n.opens(s)
	unmarked := copied(t, opened(t, older), older)
	n.opens(opened(t, older))
	n.has("two leaves are missing", "one")
	back := opened(t, unmarked)
	if leaves(t, back, "one").Conflict != nil {
		t.Fatal("the copy is marked")
	}
	n.opens(back)
	n.has("without the mark", "one")
	if leaves(t, back, "one").Conflict == nil {
		t.Error("the mark has not come back")
	}
}

// TestLinkedMemory: the memory behind a link is written where it is, and a link that leads
// nowhere, such as to a volume that is not mounted, is not replaced.
func TestLinkedMemory(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	grow(t, s, "one", 2)
	n := newNode(t)
	volume := filepath.Join(t.TempDir(), "memory")
	testenv.Must(t, os.Symlink(volume, n.path))
	n.Keeper, _ = logmemory.New(logmemory.Options{Path: n.path, Log: s, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	testenv.Must(t, n.Check(t.Context()))
	if err := n.Write(); err == nil || n.Failures() != 1 {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	testenv.Write(t, volume, logmemory.Memory{}.Encode())
	testenv.Must(t, n.Write())
	for _, path := range []string{volume, n.path} {
		if remembered, err := logmemory.Read(path); err != nil || remembered["one"].Tree.N != 2 {
			t.Errorf("%s: %+v, %v", path, remembered, err)
		}
	}
	if info, err := os.Lstat(n.path); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link was replaced: %v", err)
	}
}

// away is a store whose database is away.
type away struct{ *bolt.Store }

func (away) LogHeads(context.Context, ...string) (map[string]translog.Head, error) {
	return nil, store.ErrUnavailable
}

// TestSeveralStores: the log of an organization that the table no longer names is in none of the
// stores for what is known, and not lost; and while a store is away the logs in the others are
// remembered.
func TestSeveralStores(t *testing.T) {
	n := newNode(t)
	rest, b := opened(t, filepath.Join(t.TempDir(), "rest.db")), opened(t, filepath.Join(t.TempDir(), "b.db"))
	opens := func(b store.Full, table map[string]string) *store.Sharded {
		s, err := store.NewSharded(t.Context(), map[string]store.Full{"": rest, "b": b}, table)
		if err == nil {
			n.Keeper, err = logmemory.New(logmemory.Options{Path: n.path, Log: s, Each: s.Each, Now: time.Now,
				Logger: slog.New(slog.DiscardHandler)})
		}
		testenv.Must(t, err)
		return s
	}
	table := map[string]string{"here": "", "there": "b"}
	s := opens(b, table)
	grow(t, s, "here", 1)
	grow(t, s, "there", 1)
	n.check()
	opens(b, map[string]string{"here": ""})
	n.check()
	n.has("an organization is not configured any more")
	if head, err := rest.LogHead(t.Context(), "there"); err != nil || head.Marked() {
		t.Errorf("its log is marked in a store that never had it: %v", err)
	}
	opens(b, table)
	n.check()
	n.has("it is configured again")

	s = opens(away{b}, table)
	follow := func(leaves int64) {
		t.Helper()
		grow(t, s, "here", 1)
		n.Moved("here")
		n.Moved("there")
		n.Close()
		if remembered, err := logmemory.Read(n.path); err != nil || remembered["here"].Tree.N != leaves {
			t.Errorf("%d leaves are remembered, want %d: %v", remembered["here"].Tree.N, leaves, err)
		}
	}
	follow(2)
	grow(t, s, "here", 1)
	if err := n.Check(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a store is away: %v", err)
	}
	follow(4)
}

// arriving is a store to which organizations move while it is asked for heads.
type arriving struct {
	*bolt.Store
	here bool
}

func (a *arriving) LogHeads(context.Context, ...string) (map[string]translog.Head, error) {
	a.here = true
	return map[string]translog.Head{}, nil
}

// TestArrives: a log that moves to a store while its heads are read has not been lost there.
func TestArrives(t *testing.T) {
	n := newNode(t)
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	grow(t, s, "one", 1)
	n.opens(s)
	late := &arriving{Store: s}
	n.Each = func(do func(one store.Log, has func(organization string) bool)) {
		do(late, func(string) bool { return late.here })
	}
	n.check()
	n.has("it has just come")
	n.check()
	n.has("it is not there", "one")
}
