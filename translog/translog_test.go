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

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/translog"
)

const organization = "6e1f8f5e-1111-4222-8333-444455556666"

var (
	signer  = translog.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	witness = translog.Witness{Name: "witness.example.com", Key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))}
	key     = signer.VerifierKey(organization)
	now     = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)
)

// memoryStore is a store with records and their log.
type memoryStore struct {
	head    translog.Head
	rows    []translog.Row
	records map[string][]byte
}

func record(i int) []byte { return fmt.Appendf(nil, `{"id":"%d","result":"signed"}`, i) }

func newStore(t testing.TB, count int) *memoryStore {
	t.Helper()
	k := &memoryStore{records: map[string][]byte{}}
	for i := range count {
		k.add(t, fmt.Sprint(i), record(i))
	}
	return k
}

func (k *memoryStore) add(t testing.TB, id string, record []byte) {
	t.Helper()
	leaf := translog.NewLeaf(organization, id, [32]byte{1}, record)
	encoded, err := leaf.Encode()
	testenv.Must(t, err)
	k.rows, k.records[id] = append(k.rows, k.head.Append(encoded)), record
}

func (k *memoryStore) clone() *memoryStore {
	other := &memoryStore{head: k.head, rows: slices.Clone(k.rows), records: map[string][]byte{}}
	for id, record := range k.records {
		other.records[id] = bytes.Clone(record)
	}
	return other
}

func (k *memoryStore) Head(context.Context) (translog.Head, error) { return k.head, nil }

func (k *memoryStore) Rows(_ context.Context, indexes []int64) (rows []translog.Row, err error) {
	for _, index := range indexes {
		if index >= int64(len(k.rows)) {
			return rows, nil // as a store that does not notice
		}
		if k.rows[index].Leaf == nil {
			return nil, fmt.Errorf("%w: leaf %d", translog.ErrMissing, index)
		}
		rows = append(rows, k.rows[index])
	}
	return rows, nil
}

func (k *memoryStore) record(_ context.Context, leaf translog.Leaf) ([]byte, error) {
	return k.records[leaf.ID], nil
}

func (k *memoryStore) signed(t testing.TB) []byte {
	t.Helper()
	signed, err := signer.Checkpoint(organization, k.head.Tree())
	testenv.Must(t, err)
	return signed
}

func (k *memoryStore) opened(t testing.TB) *translog.Checkpoint {
	t.Helper()
	opened, err := translog.OpenCheckpoint(k.signed(t), key)
	testenv.Must(t, err)
	return opened
}

// TestHead compares roots and stored hashes with those of x/mod.
func TestHead(t *testing.T) {
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
		parsed, err := translog.ParseHead(head.Encode())
		if err != nil || parsed.Tree() != head.Tree() {
			t.Fatalf("head of %d leaves: parsed as %+v, %v", n, parsed, err)
		}
		leaf := []byte{byte(n)}
		hashes, err := tlog.StoredHashes(n, leaf, reader)
		testenv.Must(t, err)
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

// TestTampering tampers with a store in various ways, and expects an error that says how.
func TestTampering(t *testing.T) {
	before := newStore(t, 20)
	checkpoint := before.opened(t)
	for name, test := range map[string]struct {
		do   func(k *memoryStore)
		is   error
		says string
	}{
		"nothing":            {func(*memoryStore) {}, nil, ""},
		"more came":          {func(k *memoryStore) { k.add(t, "20", record(20)) }, nil, ""},
		"one byte changed":   {func(k *memoryStore) { k.records["7"][3] ^= 1 }, translog.ErrChanged, "leaf 7: the record of activity 7 is not the one that was logged"},
		"a record removed":   {func(k *memoryStore) { delete(k.records, "7") }, translog.ErrMissing, "the record of activity 7 is gone"},
		"rows missing":       {func(k *memoryStore) { k.rows = k.rows[:12] }, translog.ErrMissing, "12 of 20 leaves from leaf 0 on were found"},
		"a leaf removed":     {func(k *memoryStore) { k.rows[7].Leaf = nil }, translog.ErrMissing, "leaf 7"},
		"a leaf changed":     {func(k *memoryStore) { k.rows[7].Leaf = k.rows[8].Leaf }, translog.ErrChanged, "leaf 7"},
		"a hash changed":     {func(k *memoryStore) { k.rows[7].Hashes = k.rows[15].Hashes }, translog.ErrChanged, "leaf 7"},
		"the head changed":   {func(k *memoryStore) { k.head.Edge = slices.Clone(k.head.Edge); k.head.Edge[0][0] ^= 1 }, translog.ErrChanged, "the head of the log"},
		"the newest cut":     {func(k *memoryStore) { *k = *newStore(t, 19) }, translog.ErrShorter, "the log has 19 leaves, the checkpoint 20: the newest were cut off, or an earlier backup was restored"},
		"yesterday restored": {func(k *memoryStore) { *k = *newStore(t, 3) }, translog.ErrShorter, "an earlier backup was restored"},
		"restored and continued": {func(k *memoryStore) {
			*k = *newStore(t, 15)
			for i := range 10 {
				k.add(t, fmt.Sprint("new ", i), record(i))
			}
		}, translog.ErrFork, "continued from an earlier backup"},
		"rewritten whole": {func(k *memoryStore) {
			*k = memoryStore{records: map[string][]byte{}}
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

// TestProofs proves each leaf in logs of various sizes. A proof with a changed bit does not
// verify.
func TestProofs(t *testing.T) {
	for size := 1; size <= 17; size++ {
		k := newStore(t, size)
		for index := range int64(size) {
			encoded := k.prove(t, index)
			leaf, err := translog.VerifyProof(encoded, key)
			if err != nil || leaf.ID != fmt.Sprint(index) {
				t.Fatalf("leaf %d of %d: %+v, %v", index, size, leaf, err)
			}
		}
	}
	k := newStore(t, 9)
	encoded := k.prove(t, 5)
	for i := range encoded {
		changed := bytes.Clone(encoded)
		changed[i] ^= 1
		if _, err := translog.VerifyProof(changed, key); err == nil {
			t.Errorf("byte %d changed, and it still verifies: %q", i, changed)
		}
	}
	if _, err := translog.VerifyProof(encoded, signer.VerifierKey("another")); err == nil {
		t.Error("it verifies under another organization's key")
	}
}

func (k *memoryStore) prove(t testing.TB, index int64) []byte {
	t.Helper()
	hashes, err := translog.Inclusion(t.Context(), k, k.head.Size, index)
	testenv.Must(t, err)
	proof := translog.Proof{Leaf: k.rows[index].Leaf, Index: index, Hashes: hashes, Checkpoint: k.signed(t)}
	return proof.Encode()
}

// advance returns what the log sends a witness whose last checkpoint has old leaves.
func (k *memoryStore) advance(t testing.TB, old int64) *translog.Advance {
	t.Helper()
	proof, err := translog.Consistency(t.Context(), k, k.head.Size, old)
	testenv.Must(t, err)
	advance := &translog.Advance{Old: old, Proof: proof, Checkpoint: k.signed(t)}
	parsed, err := translog.ParseAdvance(advance.Encode())
	testenv.Must(t, err)
	return parsed
}

// TestWitness cosigns a log that grows from each size to each, and refuses one that shrinks
// or forks.
func TestWitness(t *testing.T) {
	for old := range int64(9) {
		for size := max(old, 1); size < 12; size++ {
			var seen []byte
			if old > 0 {
				seen = newStore(t, int(old)).cosigned(t, nil, 0)
			}
			k := newStore(t, int(size))
			cosigned := k.cosigned(t, seen, old)
			if _, err := translog.OpenCheckpoint(cosigned, key); err != nil {
				t.Errorf("the log's signature is gone: %v", err)
			}
		}
	}
	seen := newStore(t, 10).cosigned(t, nil, 0)
	forked := newStore(t, 8)
	for i := range 5 {
		forked.add(t, fmt.Sprint("forked ", i), record(i))
	}
	same := newStore(t, 9)
	same.add(t, "other", record(0))
	for name, test := range map[string]struct {
		advance *translog.Advance
		is      error
	}{
		"cut":            {newStore(t, 9).advance(t, 0), translog.ErrShorter},
		"forked":         {forked.advance(t, 10), translog.ErrFork},
		"forked at once": {same.advance(t, 10), translog.ErrFork},
		"no proof":       {&translog.Advance{Old: 10, Checkpoint: newStore(t, 12).signed(t)}, translog.ErrFork},
	} {
		if _, err := witness.Cosign(seen, test.advance, key, now); !errors.Is(err, test.is) {
			t.Errorf("%s: %v, want %v", name, err, test.is)
		}
	}
	if _, err := witness.Cosign(seen, newStore(t, 12).advance(t, 0), key, now); err == nil {
		t.Error("a proof from another size is accepted")
	}
	if _, err := witness.Cosign(nil, newStore(t, 12).advance(t, 0), signer.VerifierKey("another"), now); err == nil {
		t.Error("a checkpoint of another log is accepted")
	}
}

func (k *memoryStore) cosigned(t testing.TB, seen []byte, old int64) []byte {
	t.Helper()
	cosigned, err := witness.Cosign(seen, k.advance(t, old), key, now)
	if err != nil {
		t.Fatalf("from %d to %d leaves: %v", old, k.head.Size, err)
	}
	return cosigned
}

// TestOrigin: organizations have different origins, which are valid names.
func TestOrigin(t *testing.T) {
	seen := map[string]string{}
	for _, organization := range []string{"a b", "a+b", "a%20b", "a_b", "a%2Bb", "a\tb", "ä", "a/b"} {
		origin := translog.Origin(organization)
		if other, ok := seen[origin]; ok || strings.ContainsAny(origin, " +\t\n") {
			t.Errorf("the origin of %q is %q, and that of %q", organization, origin, other)
		}
		seen[origin] = organization
	}
	if origin := translog.Origin("a +/b"); origin != "countersign/a%20%2B%2Fb" {
		t.Error(origin)
	}
}
