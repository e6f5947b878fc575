package bench

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/translog"
)

// logLeaves is the number of leaves in the log of BenchmarkLog, in a full run.
const logLeaves = 1_000_000

// treeOnly is a log without a store.
type treeOnly struct {
	head translog.Head
	rows []translog.Row
}

func (t *treeOnly) Head(context.Context) (translog.Head, error) { return t.head, nil }

func (t *treeOnly) Rows(_ context.Context, indexes []int64) ([]translog.Row, error) {
	rows := make([]translog.Row, len(indexes))
	for i, index := range indexes {
		rows[i] = t.rows[index]
	}
	return rows, nil
}

// BenchmarkLog measures a log of a million records, each as large as that of a signed
// Ethereum transaction:
//
//	append-ns   appending a leaf: hashing its record and the nodes it completes
//	prove-ns    making an inclusion proof
//	verify-ns   verifying one, with the checkpoint's signature
//	proof-B     size of a proof with its checkpoint
//	audit-s     auditing the whole log, which hashes all records
//	kept-B      what a store keeps of a leaf
func BenchmarkLog(b *testing.B) {
	leaves := logLeaves
	if testing.Short() {
		leaves = 10_000
	}
	record := make([]byte, recordSize)
	tree := &treeOnly{rows: make([]translog.Row, 0, leaves)}
	started := time.Now()
	stored := 0
	for i := range leaves {
		record[0], record[1], record[2] = byte(i), byte(i>>8), byte(i>>16)
		leaf := translog.NewLeaf(enginetest.Organization, fmt.Sprintf("01999999-0000-7000-8000-%012d", i), [32]byte{}, record)
		encoded, err := leaf.Encode()
		if err != nil {
			b.Fatal(err)
		}
		row := tree.head.Append(encoded)
		tree.rows = append(tree.rows, row)
		stored += len(row.Leaf) + len(row.Hashes)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(time.Since(started))/float64(leaves), "append-ns")
	b.ReportMetric(float64(stored)/float64(leaves), "kept-B")
	proveLog(b, tree)
	started = time.Now()
	if _, err := translog.Audit(b.Context(), tree, nil, recordsOf(leaves)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(started).Seconds(), "audit-s")
}

// recordsOf returns a function that recreates the records in order.
func recordsOf(leaves int) func(context.Context, translog.Leaf) ([]byte, error) {
	record, i := make([]byte, recordSize), 0
	return func(context.Context, translog.Leaf) ([]byte, error) {
		if i == leaves {
			return nil, nil
		}
		record[0], record[1], record[2] = byte(i), byte(i>>8), byte(i>>16)
		i++
		return record, nil
	}
}

// proveLog creates and verifies proofs of leaves all over the log.
func proveLog(b *testing.B, tree *treeOnly) {
	b.Helper()
	const proofs = 1000
	key := newLogSigner()
	checkpoint, err := key.Checkpoint(enginetest.Organization, tree.head.Tree())
	if err != nil {
		b.Fatal(err)
	}
	var encoded [][]byte
	started := time.Now()
	for i := range int64(proofs) {
		index := tree.head.Size / proofs * i
		hashes, err := translog.Inclusion(b.Context(), tree, tree.head.Size, index)
		if err != nil {
			b.Fatal(err)
		}
		proof := translog.Proof{Leaf: tree.rows[index].Leaf, Index: index, Hashes: hashes, Checkpoint: checkpoint}
		encoded = append(encoded, proof.Encode())
	}
	b.ReportMetric(float64(time.Since(started))/proofs, "prove-ns")
	b.ReportMetric(float64(len(encoded[0])), "proof-B")
	started = time.Now()
	for _, proof := range encoded {
		if _, err := translog.VerifyProof(proof, key.VerifierKey(enginetest.Organization)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(started))/proofs, "verify-ns")
}

func newLogSigner() *translog.Signer {
	return translog.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
}

// BenchmarkLogRatio measures a request from its body to its answer with the log,
// relative to one without, over each store, by one client, alternating.
func BenchmarkLogRatio(b *testing.B) {
	for _, backend := range stores {
		b.Run(backend.name, func(b *testing.B) {
			key := enginetest.NewAPIKey(b)
			var sides [2]func(i int)
			for side, log := range []bool{true, false} {
				engine, err := submitEngineWith(key.Config(), backend.open(b), func(c *countersign.Config) { c.Log = log })
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = engine.Close() })
				sides[side] = submitting(b, key, engine)
			}
			measure.Ratio(b, sides[0], sides[1])
		})
	}
}

// submitting returns a function that submits a new request each time.
func submitting(b *testing.B, key *enginetest.APIKey, engine *countersign.Engine) func(i int) {
	b.Helper()
	sent := newLoad(b, key, 8192) // more than the pairs need
	return func(i int) {
		if _, err := engine.Submit(b.Context(), sent.body(i)); err != nil {
			b.Error(err)
		}
	}
}
