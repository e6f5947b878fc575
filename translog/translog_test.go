package translog_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/translog"
)

const organization = "6e1f8f5e-1111-4222-8333-444455556666"

var (
	signer  = translog.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	witness = translog.Witness{Name: "witness.example.com", Key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))}
	key     = signer.VerifierKey(organization)
	now     = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)
)

// kept is a store: records, and a log of them.
type kept struct {
	head    translog.Head
	rows    []translog.Row
	records map[string][]byte
}

func record(i int) []byte { return fmt.Appendf(nil, `{"id":"%d","result":"signed"}`, i) }

func newKept(t testing.TB, count int) *kept {
	t.Helper()
	k := &kept{records: map[string][]byte{}}
	for i := range count {
		k.add(t, fmt.Sprint(i), record(i))
	}
	return k
}

func (k *kept) add(t testing.TB, id string, record []byte) {
	t.Helper()
	leaf := translog.NewLeaf(organization, id, [32]byte{1}, record)
	encoded, err := leaf.Encode()
	if err != nil {
		t.Fatal(err)
	}
	k.rows, k.records[id] = append(k.rows, k.head.Append(encoded)), record
}

func (k *kept) clone() *kept {
	other := &kept{head: k.head, rows: slices.Clone(k.rows), records: map[string][]byte{}}
	for id, record := range k.records {
		other.records[id] = bytes.Clone(record)
	}
	return other
}

func (k *kept) Head(context.Context) (translog.Head, error) { return k.head, nil }

func (k *kept) Rows(_ context.Context, indexes []int64) (rows []translog.Row, err error) {
	for _, index := range indexes {
		if index >= int64(len(k.rows)) || k.rows[index].Leaf == nil {
			return nil, fmt.Errorf("%w: leaf %d", translog.ErrMissing, index)
		}
		rows = append(rows, k.rows[index])
	}
	return rows, nil
}

func (k *kept) record(_ context.Context, leaf translog.Leaf) ([]byte, error) {
	return k.records[leaf.ID], nil
}

func (k *kept) signed(t testing.TB) []byte {
	t.Helper()
	signed, err := signer.Checkpoint(organization, k.head.Tree())
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func (k *kept) opened(t testing.TB) *translog.Checkpoint {
	t.Helper()
	opened, err := translog.OpenCheckpoint(k.signed(t), key)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// TestHeadIsTheTree compares the roots with those of x/mod's own walk over stored
// hashes.
func TestHeadIsTheTree(t *testing.T) {
	var head translog.Head
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for n := range int64(70) {
		want, err := tlog.TreeHash(n, reader)
		if err != nil || head.Tree() != (tlog.Tree{N: n, Hash: want}) {
			t.Fatalf("root of %d leaves: %v, want %v (%v)", n, head.Tree(), want, err)
		}
		again, err := translog.ParseHead(head.Encode())
		if err != nil || again.Tree() != head.Tree() {
			t.Fatalf("head of %d leaves read again: %+v, %v", n, again, err)
		}
		leaf := []byte{byte(n)}
		hashes, err := tlog.StoredHashes(n, leaf, reader)
		if err != nil {
			t.Fatal(err)
		}
		var joined []byte
		for _, hash := range hashes {
			joined = append(joined, hash[:]...)
		}
		if row := head.Append(leaf); !bytes.Equal(row.Hashes, joined) {
			t.Fatalf("hashes of leaf %d: %x, want %x", n, row.Hashes, joined)
		}
		stored = append(stored, hashes...)
	}
}

// TestTamperingIsNoticed changes what a store keeps, in the ways that are feared,
// and expects a message that says which.
func TestTamperingIsNoticed(t *testing.T) {
	before := newKept(t, 20)
	checkpoint := before.opened(t)
	for name, test := range map[string]struct {
		do   func(k *kept)
		is   error
		says string
	}{
		"nothing":            {func(*kept) {}, nil, ""},
		"more came":          {func(k *kept) { k.add(t, "20", record(20)) }, nil, ""},
		"one byte changed":   {func(k *kept) { k.records["7"][3] ^= 1 }, translog.ErrChanged, "leaf 7: the record of activity 7 is not the one that was logged"},
		"a record removed":   {func(k *kept) { delete(k.records, "7") }, translog.ErrMissing, "the record of activity 7 is gone"},
		"a leaf removed":     {func(k *kept) { k.rows[7].Leaf = nil }, translog.ErrMissing, "leaf 7"},
		"a leaf changed":     {func(k *kept) { k.rows[7].Leaf = k.rows[8].Leaf }, translog.ErrChanged, "leaf 7"},
		"a hash changed":     {func(k *kept) { k.rows[7].Hashes = k.rows[15].Hashes }, translog.ErrChanged, "leaf 7"},
		"the head changed":   {func(k *kept) { k.head.Edge = slices.Clone(k.head.Edge); k.head.Edge[0][0] ^= 1 }, translog.ErrChanged, "the head of the log"},
		"the newest cut":     {func(k *kept) { *k = *newKept(t, 19) }, translog.ErrShorter, "the log has 19 leaves, the checkpoint 20: the newest were cut off, or an earlier backup was restored"},
		"yesterday restored": {func(k *kept) { *k = *newKept(t, 3) }, translog.ErrShorter, "an earlier backup was restored"},
		"restored and continued": {func(k *kept) {
			*k = *newKept(t, 15)
			for i := range 10 {
				k.add(t, fmt.Sprint("new ", i), record(i))
			}
		}, translog.ErrFork, "continued from an earlier backup"},
		"rewritten whole": {func(k *kept) {
			*k = kept{records: map[string][]byte{}}
			for i := range 20 {
				k.add(t, fmt.Sprint(i), record(i^1))
			}
		}, translog.ErrFork, "the log was rewritten"},
	} {
		t.Run(name, func(t *testing.T) {
			k := before.clone()
			test.do(k)
			_, err := translog.Audit(t.Context(), k, checkpoint, k.record)
			if !errors.Is(err, test.is) || test.is != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %v: %s", err, test.is, test.says)
			}
		})
	}
}

// TestProofs proves each leaf in logs of each size; a proof with one bit changed
// proves nothing.
func TestProofs(t *testing.T) {
	for size := 1; size <= 17; size++ {
		k := newKept(t, size)
		for index := range int64(size) {
			encoded := k.prove(t, index)
			leaf, err := translog.VerifyProof(encoded, key)
			if err != nil || leaf.ID != fmt.Sprint(index) {
				t.Fatalf("leaf %d of %d: %+v, %v", index, size, leaf, err)
			}
		}
	}
	k := newKept(t, 9)
	encoded := k.prove(t, 5)
	for i := range encoded {
		changed := bytes.Clone(encoded)
		changed[i] ^= 1
		if _, err := translog.VerifyProof(changed, key); err == nil {
			t.Errorf("byte %d changed, and it still proves: %q", i, changed)
		}
	}
	if _, err := translog.VerifyProof(encoded, signer.VerifierKey("another")); err == nil {
		t.Error("it proves for another organization's key")
	}
}

func (k *kept) prove(t testing.TB, index int64) []byte {
	t.Helper()
	hashes, err := translog.Inclusion(t.Context(), k, k.head.Size, index)
	if err != nil {
		t.Fatal(err)
	}
	proof := translog.Proof{Leaf: k.rows[index].Leaf, Index: index, Hashes: hashes, Checkpoint: k.signed(t)}
	return proof.Encode()
}

// advance is what the log sends a witness that has seen so many leaves.
func (k *kept) advance(t testing.TB, old int64) *translog.Advance {
	t.Helper()
	proof, err := translog.Consistency(t.Context(), k, k.head.Size, old)
	if err != nil {
		t.Fatal(err)
	}
	made := &translog.Advance{Old: old, Proof: proof, Checkpoint: k.signed(t)}
	read, err := translog.ParseAdvance(made.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestWitness follows a log that grows from each size to each, and refuses one
// that shrinks or forks.
func TestWitness(t *testing.T) {
	for old := range int64(9) {
		for size := max(old, 1); size < 12; size++ {
			var seen []byte
			if old > 0 {
				seen = newKept(t, int(old)).cosigned(t, nil, 0)
			}
			k := newKept(t, int(size))
			cosigned := k.cosigned(t, seen, old)
			if _, err := translog.OpenCheckpoint(cosigned, key); err != nil {
				t.Errorf("the log's signature is gone: %v", err)
			}
		}
	}
	seen := newKept(t, 10).cosigned(t, nil, 0)
	forked := newKept(t, 8)
	for i := range 5 {
		forked.add(t, fmt.Sprint("forked ", i), record(i))
	}
	same := newKept(t, 9)
	same.add(t, "other", record(0))
	for name, test := range map[string]struct {
		advance *translog.Advance
		is      error
	}{
		"cut":            {newKept(t, 9).advance(t, 0), translog.ErrShorter},
		"forked":         {forked.advance(t, 10), translog.ErrFork},
		"forked at once": {same.advance(t, 10), translog.ErrFork},
		"no proof":       {&translog.Advance{Old: 10, Checkpoint: newKept(t, 12).signed(t)}, translog.ErrFork},
	} {
		if _, err := witness.Cosign(seen, test.advance, key, now); !errors.Is(err, test.is) {
			t.Errorf("%s: %v, want %v", name, err, test.is)
		}
	}
	if _, err := witness.Cosign(seen, newKept(t, 12).advance(t, 0), key, now); err == nil {
		t.Error("a proof from another size is taken")
	}
	if _, err := witness.Cosign(nil, newKept(t, 12).advance(t, 0), signer.VerifierKey("another"), now); err == nil {
		t.Error("a checkpoint of another log is taken")
	}
}

func (k *kept) cosigned(t testing.TB, seen []byte, old int64) []byte {
	t.Helper()
	cosigned, err := witness.Cosign(seen, k.advance(t, old), key, now)
	if err != nil {
		t.Fatalf("from %d to %d leaves: %v", old, k.head.Size, err)
	}
	return cosigned
}

// TestOrigin: no two organizations have the same log.
func TestOrigin(t *testing.T) {
	seen := map[string]string{}
	for _, organization := range []string{"a b", "a+b", "a%20b", "a_b", "a%2Bb", "a\tb", "ä", "a/b"} {
		origin := translog.Origin(organization)
		if other, ok := seen[origin]; ok || strings.ContainsAny(origin, " +\t\n") {
			t.Errorf("the origin of %q is %q, and that of %q", organization, origin, other)
		}
		seen[origin] = organization
	}
}
