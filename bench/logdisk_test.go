package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/translog"
)

// loggingStore is a store with a log.
type loggingStore interface {
	store.Store
	store.Log
}

// BenchmarkLogDisk measures a log of a million leaves in each store on disk:
//
//	append-ns   appending a leaf, 10,000 in a transaction
//	disk-B      what a leaf takes on disk, including indexes
//	prove-ns    making the proof that an answer carries, from the store
//	verify-ns   verifying that proof, with the checkpoint's signature
func BenchmarkLogDisk(b *testing.B) {
	b.Run("bolt", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "store")
		s, err := bolt.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		logOnDisk(b, s, func() int64 { return fileSize(b, path) })
	})
	b.Run("postgres", func(b *testing.B) {
		dsn := testenv.Postgres(b).DSN
		s, err := postgres.Open(b.Context(), dsn)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		logOnDisk(b, s, func() int64 { return tablesSize(b, dsn) })
	})
}

func fileSize(b *testing.B, path string) int64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// tablesSize returns the size of the log's table and its indexes.
func tablesSize(b *testing.B, dsn string) (size int64) {
	b.Helper()
	connection, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = connection.Close(context.Background()) }()
	if err := connection.QueryRow(b.Context(), `SELECT pg_total_relation_size('countersign_log_leaves')`).Scan(&size); err != nil {
		b.Fatal(err)
	}
	return size
}

func logOnDisk(b *testing.B, s loggingStore, size func() int64) {
	b.Helper()
	const step, proofs = 10_000, 1000
	leaves := logLeaves
	if testing.Short() {
		leaves = 2 * step
	}
	before, started := size(), time.Now()
	for first := 0; first < leaves; first += step {
		if _, err := s.AppendLeaves(b.Context(), enginetest.Organization, int64(first), leavesFrom(b, first, step)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(time.Since(started))/float64(leaves), "append-ns")
	b.ReportMetric(float64(size()-before)/float64(leaves), "disk-B")
	signer := newLogSigner()
	encoded := make([][]byte, proofs)
	started = time.Now()
	for i := range encoded {
		proof, err := store.ProveRecorded(b.Context(), s, signer, enginetest.Organization, leafID(leaves/proofs*(i+1)-1))
		if err != nil {
			b.Fatal(err)
		}
		encoded[i] = proof.Encode()
	}
	b.ReportMetric(float64(time.Since(started))/proofs, "prove-ns")
	started = time.Now()
	for _, proof := range encoded {
		if _, err := translog.VerifyProof(proof, signer.VerifierKey(enginetest.Organization)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(started))/proofs, "verify-ns")
}

func leafID(i int) string { return fmt.Sprintf("01999999-0000-7000-8000-%012d", i) }

func leavesFrom(b *testing.B, first, count int) []store.LogEntry {
	b.Helper()
	entries := make([]store.LogEntry, count)
	for i := range entries {
		leaf := translog.Leaf{Organization: enginetest.Organization, ID: leafID(first + i)}
		encoded, err := leaf.Encode()
		if err != nil {
			b.Fatal(err)
		}
		entries[i] = store.LogEntry{ID: leaf.ID, Leaf: encoded}
	}
	return entries
}
