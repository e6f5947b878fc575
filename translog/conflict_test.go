package translog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/translog"
)

// marked returns heads of k with each combination of marks.
func marked(k *memoryStore) map[string]translog.Head {
	heads := map[string]translog.Head{}
	for _, accepted := range []time.Time{{}, now.UTC().Truncate(time.Millisecond)} {
		for _, conflict := range []*translog.Conflict{
			nil,
			{Remembered: tlog.Tree{N: 9, Hash: tlog.Hash{1, 2}}, Seen: now.UTC().Truncate(time.Second), Found: now.UTC().Truncate(time.Second).Add(time.Hour)},
			{Remembered: tlog.Tree{N: math.MaxInt64}},
		} {
			head := k.head
			head.Accepted, head.Conflict = accepted, conflict
			heads[fmt.Sprintf("%v %v", accepted, conflict)] = head
			head.Stops = []translog.Stop{
				{By: "ann", Since: now.UTC().Truncate(time.Millisecond), Answers: true},
				{Subject: translog.UserSubject("ben"), By: "<&", Resume: []translog.Resumer{{User: "ann", Credential: "<&"}}},
			}
			heads[fmt.Sprintf("%v %v, stopped", accepted, conflict)] = head
		}
	}
	return heads
}

// TestMarksOneEncoding: a head with marks has one encoding, which an input that was cut or
// extended is not. Appending keeps the marks.
func TestMarksOneEncoding(t *testing.T) {
	for name, head := range marked(newStore(t, 5)) {
		encoded := head.Encode()
		parsed, err := translog.ParseHead(encoded)
		if err != nil || !bytes.Equal(parsed.Encode(), encoded) || !parsed.Accepted.Equal(head.Accepted) || (parsed.Conflict == nil) != (head.Conflict == nil) ||
			parsed.Conflict != nil && *parsed.Conflict != *head.Conflict || !reflect.DeepEqual(parsed.Stops, head.Stops) {
			t.Errorf("%s: %+v, %v", name, parsed, err)
		}
		for i := range encoded {
			if short, err := translog.ParseHead(encoded[:i]); err == nil && i > 0 && !bytes.Equal(short.Encode(), encoded[:i]) {
				t.Errorf("%s: %d bytes are read as %+v", name, i, short)
			}
		}
		if long, err := translog.ParseHead(append(encoded, 0)); err == nil {
			t.Errorf("%s: a byte more is read as %+v", name, long)
		}
		parsed.Append([]byte("leaf"))
		if parsed.Size != 6 || !parsed.Accepted.Equal(head.Accepted) || (parsed.Conflict == nil) != (head.Conflict == nil) ||
			!reflect.DeepEqual(parsed.Stops, head.Stops) {
			t.Errorf("%s: after a leaf: %+v", name, parsed)
		}
	}
	plain := newStore(t, 5).head
	if _, err := translog.ParseHead(append(plain.Encode(), make([]byte, 8)...)); err == nil {
		t.Error("an acceptance at no time is another encoding of none")
	}
}

// brokenSource is a source whose rows cannot be read.
type brokenSource struct{ translog.Source }

var errBroken = errors.New("broken")

func (brokenSource) Rows(context.Context, []int64) ([]translog.Row, error) { return nil, errBroken }

// TestExtends compares a log with every earlier state of it, with later ones, and with
// those of another history.
func TestExtends(t *testing.T) {
	const leaves = 12
	k := newStore(t, leaves)
	for size := range leaves + 1 {
		earlier := newStore(t, size).head
		if err := translog.Extends(t.Context(), k, &k.head, earlier.Tree()); err != nil {
			t.Errorf("from %d leaves: %v", size, err)
		}
		shorter := newStore(t, size)
		if err := translog.Extends(t.Context(), shorter, &shorter.head, k.head.Tree()); size < leaves && (!errors.Is(err, translog.ErrShorter) || !translog.Denies(err)) {
			t.Errorf("%d leaves of %d: %v, want ErrShorter", size, leaves, err)
		}
		forked := earlier.Tree()
		forked.Hash[3]++
		if err := translog.Extends(t.Context(), k, &k.head, forked); size > 0 && (!errors.Is(err, translog.ErrFork) || !translog.Denies(err)) {
			t.Errorf("another history of %d leaves: %v, want ErrFork", size, err)
		}
	}
	old := newStore(t, 5).head
	if err := translog.Extends(t.Context(), brokenSource{k}, &k.head, old.Tree()); !errors.Is(err, errBroken) || translog.Denies(err) {
		t.Errorf("a log that cannot be read: %v", err)
	}
	k.rows = k.rows[:3]
	if err := translog.Extends(t.Context(), k, &k.head, old.Tree()); err == nil {
		t.Error("a log without its leaves extends")
	}
}

func TestMissing(t *testing.T) {
	c := translog.Conflict{Remembered: tlog.Tree{N: 8}}
	for found, want := range map[int64]string{0: "8 leaves missing at least", 5: "3 leaves missing at least", 8: "another history", 9: "another history"} {
		if got := c.Missing(found); got != want {
			t.Errorf("%d leaves: %q, want %q", found, got, want)
		}
	}
}

// TestAcceptLeaf: an acceptance commits to both logs and the time, and an audit passes it
// without a record.
func TestAcceptLeaf(t *testing.T) {
	one, other := tlog.Tree{N: 8, Hash: tlog.Hash{1}}, tlog.Tree{N: 5, Hash: tlog.Hash{2}}
	leaf := translog.NewAcceptLeaf(organization, one, other, now)
	if !leaf.IsAccept() || leaf.IsPolicy() || !strings.HasPrefix(leaf.ID, "accept/2") || leaf.Fingerprint != [32]byte{} {
		t.Errorf("%+v", leaf)
	}
	changed := one
	changed.N++
	for _, another := range []translog.Leaf{
		translog.NewAcceptLeaf(organization, changed, other, now),
		translog.NewAcceptLeaf(organization, other, one, now),
		translog.NewAcceptLeaf(organization, one, other, now.Add(time.Millisecond)),
	} {
		if another.Record == leaf.Record {
			t.Errorf("%+v has the record of another", another)
		}
	}
	k := newStore(t, 2)
	encoded, err := leaf.Encode()
	testenv.Must(t, err)
	k.rows = append(k.rows, k.head.Append(encoded))
	seen, err := translog.Audit(t.Context(), k, nil, func(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
		if leaf.IsAccept() {
			t.Error("an acceptance has no record")
		}
		return k.record(ctx, leaf)
	})
	if err != nil || seen.Leaves != 3 || seen.Records != 2 {
		t.Errorf("%+v, %v", seen, err)
	}
}
