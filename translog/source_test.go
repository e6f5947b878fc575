package translog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/translog"
)

// faulty is a source whose answers are changed.
type faulty struct {
	*memoryStore
	head error
	rows func(indexes []int64, rows []translog.Row) ([]translog.Row, error)
}

func (f *faulty) Head(ctx context.Context) (translog.Head, error) {
	if f.head != nil {
		return translog.Head{}, f.head
	}
	return f.memoryStore.Head(ctx)
}

func (f *faulty) Rows(ctx context.Context, indexes []int64) ([]translog.Row, error) {
	rows, err := f.memoryStore.Rows(ctx, indexes)
	if err != nil || f.rows == nil {
		return rows, err
	}
	return f.rows(indexes, rows)
}

var errDown = errors.New("the store is down")

// TestTreeAt: the tree at a size, and the proofs from there, are those of a log that has
// just this size. Sources are asked for ascending indexes without repetition.
func TestTreeAt(t *testing.T) {
	k := newStore(t, 40)
	source := &faulty{memoryStore: k, rows: func(indexes []int64, rows []translog.Row) ([]translog.Row, error) {
		for i := range indexes[1:] {
			if indexes[i] >= indexes[i+1] {
				t.Errorf("asked for leaves %v", indexes)
			}
		}
		return rows, nil
	}}
	for size := range int64(41) {
		tree, err := translog.TreeAt(t.Context(), source, size)
		if alone := newStore(t, int(size)); err != nil || tree != alone.head.Tree() {
			t.Fatalf("the tree at %d: %+v, %v", size, tree, err)
		}
		for index := int64(-1); index <= size+1; index++ {
			proof, err := translog.Inclusion(t.Context(), source, size, index)
			if index < 0 || index >= size {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("leaf %d is not in a log of %d", index, size)) {
					t.Errorf("leaf %d of %d: %v", index, size, err)
				}
				continue
			}
			if err == nil {
				err = tlog.CheckRecord(proof, size, tree.Hash, index, tlog.RecordHash(k.rows[index].Leaf))
			}
			if err != nil {
				t.Errorf("leaf %d of %d: %v", index, size, err)
			}
		}
		for old := int64(-1); old <= size+1; old++ {
			proof, err := translog.Consistency(t.Context(), source, size, old)
			switch {
			case old < 0 || old > size:
				if !errors.Is(err, translog.ErrShorter) {
					t.Errorf("from %d to %d leaves: %v", old, size, err)
				}
			case old == 0 || old == size:
				if err != nil || proof != nil {
					t.Errorf("from %d to %d leaves: %v, %v", old, size, proof, err)
				}
			default:
				earlier := newStore(t, int(old)).head.Tree()
				if err == nil {
					err = tlog.CheckTree(proof, size, tree.Hash, old, earlier.Hash)
				}
				if err != nil {
					t.Errorf("from %d to %d leaves: %v", old, size, err)
				}
			}
		}
	}
}

// TestFaultySource: everything that reads from a source says what is wrong with its answer.
func TestFaultySource(t *testing.T) {
	for name, test := range map[string]struct {
		rows    func(indexes []int64, rows []translog.Row) ([]translog.Row, error)
		is      error
		problem string
	}{
		"down":       {func([]int64, []translog.Row) ([]translog.Row, error) { return nil, errDown }, errDown, ""},
		"fewer":      {func(_ []int64, rows []translog.Row) ([]translog.Row, error) { return rows[1:], nil }, translog.ErrMissing, "leaves"},
		"more":       {func(_ []int64, rows []translog.Row) ([]translog.Row, error) { return append(rows, rows[0]), nil }, translog.ErrMissing, "leaves"},
		"short hash": {shorten(1), translog.ErrChanged, "leaf"},
		"one fewer":  {shorten(32), translog.ErrChanged, "leaf"},
	} {
		source := &faulty{memoryStore: newStore(t, 5), rows: test.rows}
		for what, do := range map[string]func() error{
			"tree":        func() error { _, err := translog.TreeAt(t.Context(), source, 5); return err },
			"inclusion":   func() error { _, err := translog.Inclusion(t.Context(), source, 5, 1); return err },
			"consistency": func() error { _, err := translog.Consistency(t.Context(), source, 5, 3); return err },
			"audit":       func() error { _, err := translog.Audit(t.Context(), source, nil, source.record); return err },
		} {
			if err := do(); !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s, %s: %v, want %v: %s", name, what, err, test.is, test.problem)
			}
		}
	}
}

// shorten cuts bytes off the hashes of each row.
func shorten(by int) func([]int64, []translog.Row) ([]translog.Row, error) {
	return func(_ []int64, rows []translog.Row) ([]translog.Row, error) {
		for i := range rows {
			rows[i].Hashes = rows[i].Hashes[:len(rows[i].Hashes)-by]
		}
		return rows, nil
	}
}

// TestAudited audits logs around the number of leaves that are read at a time, with and
// without a checkpoint of each part.
func TestAudited(t *testing.T) {
	digest := [32]byte{7}
	for _, count := range []int{0, 1, 2, 999, 1000, 1001, 2001} {
		k := newStore(t, count)
		leaf := translog.NewPolicyLeaf(organization, digest, now.Add(time.Nanosecond).In(time.FixedZone("", 3600)))
		if leaf.ID != "policy/2026-05-04T03:02:01.000000001Z" || !leaf.IsPolicy() || leaf.Record != digest || leaf.Organization != organization {
			t.Errorf("the leaf of a policy: %+v", leaf)
		}
		encoded, err := leaf.Encode()
		testenv.Must(t, err)
		checkpoint := k.opened(t)
		k.rows = append(k.rows, k.head.Append(encoded))
		k.add(t, "the last", record(0))
		want := translog.Audited{Leaves: int64(count) + 2, Records: int64(count) + 1}
		most := 0
		source := &faulty{memoryStore: k, rows: func(_ []int64, rows []translog.Row) ([]translog.Row, error) {
			most = max(most, len(rows))
			return rows, nil
		}}
		for _, from := range []*translog.Checkpoint{nil, checkpoint, k.opened(t)} {
			audited, err := translog.Audit(t.Context(), source, from, k.record)
			if err != nil || audited != want || most > 1000 {
				t.Errorf("%d leaves, at most %d at a time: %+v, %v, want %+v", count, most, audited, err, want)
			}
		}
		if _, err := translog.Audit(t.Context(), &faulty{memoryStore: k, head: errDown}, nil, k.record); !errors.Is(err, errDown) {
			t.Errorf("without a head: %v", err)
		}
		_, err = translog.Audit(t.Context(), k, nil, func(context.Context, translog.Leaf) ([]byte, error) { return nil, errDown })
		if !errors.Is(err, errDown) || !strings.Contains(err.Error(), "leaf 0 (0)") && count > 0 {
			t.Errorf("without records: %v", err)
		}
	}
	for name, id := range map[string]string{"an activity": "6e1f8f5e", "in another case": "Policy/x", "no slash": "policy"} {
		if leaf := translog.NewLeaf("policy/", id, digest, nil); leaf.IsPolicy() {
			t.Errorf("%s: taken for the leaf of a policy", name)
		}
	}
	broken := newStore(t, 3)
	broken.rows[1].Leaf = broken.rows[1].Leaf[:10]
	if _, err := translog.Audit(t.Context(), broken, nil, broken.record); !errors.Is(err, translog.ErrChanged) || !strings.Contains(err.Error(), "leaf 1: translog: not a leaf") {
		t.Errorf("no leaf: %v", err)
	}
}
